-- Removes the marks of a transaction unless one was set meanwhile.
if redis.call('HGET', KEYS[1], 'at') ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
