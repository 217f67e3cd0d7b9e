-- Frees a lock whoever holds it, and raises its token.
--
-- KEYS, ARGV and the result are those of force.lua.

local kind = redis.call('type', KEYS[1]).ok
if kind ~= 'string' and kind ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. KEYS[1] .. ' is not a lock but a ' .. kind)
end
if redis.call('pttl', KEYS[1]) == -1 and redis.call('exists', KEYS[2]) == 0 then
  return redis.error_reply('WRONGTYPE the key ' .. KEYS[1] .. ' never ends, and so is not a lock')
end
local time = redis.call('time')
local now = tonumber(string.format('%d%06d', time[1], time[2]))
local old = tonumber(redis.call('get', KEYS[2]) or 0)
if not old or not (old <= 9e15) then
  return redis.error_reply('WRONGTYPE the fencing counter ' .. KEYS[2] .. ' is not a usable number')
end
-- Publishing goes first: if this user may not, nothing has happened.
tell(KEYS[3], '0')
local value = string.format('%.0f', math.max(old + 2, now))
if ARGV[2] == '0' then
  redis.call('set', KEYS[2], value)
else
  redis.call('set', KEYS[2], value, 'px', ARGV[2])
end
return redis.call('del', KEYS[1])
