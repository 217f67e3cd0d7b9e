-- Replaces the metadata of a mutex.
--
-- KEYS  1 the lock
-- ARGV  1 owner   2 metadata or empty
--
-- Returns 1; or 0 when the owner does not have the lock.

local has = redis.pcall('hget', KEYS[1], ARGV[1])
if type(has) == 'table' and not string.find(has.err, 'WRONGTYPE') then
  return has
elseif has ~= '1' then
  return 0
end
redis.call('hset', KEYS[1], 'bedrock:meta', ARGV[2])
return 1
