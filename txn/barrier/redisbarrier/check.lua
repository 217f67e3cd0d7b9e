-- What became of a message's producer: KEYS[1] is the hash with the marks, ARGV[1]
-- the field of the message, ARGV[2] the lifetime of marks in milliseconds (or 0).
-- Without a mark there was no commit, and the mark set here says so for good.
local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then
  local now = redis.call('TIME')
  redis.call('HSET', KEYS[1], ARGV[1], 'check:0:0:-', 'at', string.format('%.0f', now[1] * 1000000 + now[2]))
  if tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 'check'
end
return string.match(value, '^[^:]*')
