-- The usual way of acquire.lua, by itself and before it: one lock, which is free and must not linger, and a
-- counter behind the clock. Every call is a good part of what a lock costs the server, here there are four, behind one
-- in free.lua.

if free and ARGV[6] < '~' then
  local time = redis.call('time')
  local floor = time[1] .. string.sub('00000' .. time[2], -6)
  local old
  if ARGV[1] == '0' then
    old = redis.call('set', KEYS[2], floor, 'get')
  else
    old = redis.call('set', KEYS[2], floor, 'px', ARGV[1], 'get')
  end
  local last, count = tonumber(floor), tonumber(ARGV[4])
  local before = tonumber(old or last - 1)
  if before and last - before >= count then
    if ARGV[5] == '' then
      redis.call('hset', KEYS[1], ARGV[3], '1')
    else
      redis.call('hset', KEYS[1], ARGV[3], '1', 'bedrock:meta', ARGV[5])
    end
    local expiring = redis.pcall('pexpire', KEYS[1], ARGV[2])
    if expiring ~= 1 then
      -- A user without this permission must not leave a lock that never ends.
      redis.call('del', KEYS[1])
      return expiring
    end
    return last - count + 1
  end
  if old then
    redis.call('set', KEYS[2], old, 'keepttl')
  else
    redis.call('del', KEYS[2])
  end
end
