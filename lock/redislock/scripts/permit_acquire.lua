-- Takes permits of a semaphore.
--
-- KEYS  1 the semaphore   2 its fencing counter   3 the permits that are taken   4 its channel   5 what is known of
--       its holders
-- ARGV  1 life of the counter in ms, 0 for ever   2 lease in ms   3 owner   4 how many tokens   5 metadata
--       6 how many permits   7 of how many   8 how the IDs begin   9 PUBLISH or SPUBLISH, or empty if it is not
--       known which   10 life of the semaphore in ms
--
-- Returns {1, the first token, how many}; or, when too many are taken, {0, ms until the next one comes back, or
-- -1}; or {2, kind} of another kind.

local call = redis.call
local name, counter, taken, channel, holders = unpack(KEYS)
local lease, owner, count, limit, prefix = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]

local kind, wrong = kindOf(name)
wrong = wrong or otherLayout(name, holders)
if wrong then
  return wrong
elseif kind and kind ~= SEMAPHORE then
  return {2, kind}
end

local now, life = nowMs(), math.max(lease, tonumber(ARGV[10]))
if has(taken, prefix, count, now) then
  -- An earlier copy of this request was granted.
  setEnds(taken, prefix, count, now + lease)
  keep(name, taken, holders, life)
  return {1, recorded(holders, counter, owner)}
end

local more, there = countPermits(name, taken, holders, limit, now, ARGV[10])
if there < count then
  if more > 0 then
    hintOf(ARGV[9], channel, more)
  end
  local next = call('zrange', taken, 0, 0, 'withscores')[2]
  return {0, next and tonumber(next) < 9e14 and math.max(tonumber(next) - now, 1) or -1}
end
local first, given = advance(counter, tonumber(ARGV[4]))
if not first then
  return given
end
call('decrby', name, count)
setEnds(taken, prefix, count, now + lease)
record(holders, owner, first, given, prefixText(prefix) .. ' ' .. ARGV[5], life)
keep(name, taken, holders, life)
if more > count then
  hintOf(ARGV[9], channel, more - count)
end
return {1, first, given}
