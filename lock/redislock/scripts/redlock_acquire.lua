-- Takes a lock in the layout of Redlock's clients, once.
--
-- KEYS  1 the lock: a string, the owner, with a time to live
--       2 its fencing counter: last token and how many were given with it
-- ARGV  1 lease in ms   2 owner   3 how many tokens
--       4 life of the counter in ms, 0 for ever
--
-- Returns the first token; or, when the owner has the lock already,
-- {1, "first tokens"}; or, when it is held, {0, ms left, owner}.

if not redis.call('set', KEYS[1], ARGV[2], 'nx', 'px', ARGV[1]) then
  local holder = redis.call('get', KEYS[1])
  if holder ~= ARGV[2] then
    return {0, redis.call('pttl', KEYS[1]), holder}
  end
  redis.call('pexpire', KEYS[1], ARGV[1])
  local last, count = string.match(redis.call('get', KEYS[2]) or '', '^(%d+) (%d+)$')
  if last then
    return {1, string.format('%.0f %s', last - count + 1, count)}
  end
  -- The counter was lost meanwhile: tokens are given out anew, above the old.
end

local time = redis.call('time')
local clock = string.format('%d%06d', time[1], time[2])
local now, count = tonumber(clock), tonumber(ARGV[3])
local before = string.match(redis.call('get', KEYS[2]) or '', '^(%d+) ') or 0
local last = math.max(now, before + count)
local value = string.format('%.0f %s', last, ARGV[3])
if ARGV[4] == '0' then
  redis.call('set', KEYS[2], value)
else
  redis.call('set', KEYS[2], value, 'px', ARGV[4])
end
return last - count + 1
