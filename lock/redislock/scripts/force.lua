-- Frees a lock whoever holds it, and tells that one. It raises its token first, so that a guard
-- refuses the former holder as soon as it has seen a newer one.
--
-- KEYS  1 the lock   2 its fencing counter   3 its channel
-- ARGV  1 PUBLISH or SPUBLISH, or empty if it is not known which   2 life of the counter in ms, 0 for ever
--
-- Returns 1 when the lock was held.

local kind = redis.call('type', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. KEYS[1] .. ' is not a lock but a ' .. kind)
end

-- owners returns who seems to have the lock.
local function owners()
  local found = {}
  if kind == 'hash' and redis.call('hlen', KEYS[1]) <= 64 then
    for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
      if string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%d') then
        found[#found + 1] = field
      end
    end
  end
  return found
end

local former = owners()

-- Anybody's hash must not be deleted for a lock.
local function isLock()
  if redis.call('exists', KEYS[2]) == 1 or redis.call('hget', KEYS[1], 'bedrock:meta') then
    return true
  end
  return #former > 0
end

if kind == 'hash' and not isLock() then
  return redis.error_reply('WRONGTYPE the key ' .. KEYS[1] .. ' is a hash, but not a lock')
end

local time = redis.call('time')
local now = tonumber(string.format('%d%06d', time[1], time[2]))
local old = tonumber(redis.call('get', KEYS[2]) or 0)
if not old or not (old <= 9e15) then
  return redis.error_reply('WRONGTYPE the fencing counter ' .. KEYS[2] .. ' is not a usable number')
end
local last = string.format('%.0f', math.max(old + 2, now))
if ARGV[2] == '0' then
  redis.call('set', KEYS[2], last)
else
  redis.call('set', KEYS[2], last, 'px', ARGV[2])
end
tell(KEYS[3], '0')
local held = redis.call('del', KEYS[1])
for _, owner in ipairs(former) do
  notify(clientOf(owner), 'taken ' .. string.match(owner, ':(%d+)') .. ' ' .. KEYS[1])
end
return held
