-- Takes a lock in the layout of Redlock's clients, once.
--
-- KEYS  1 the lock: a string, the owner, with a time to live
--       2 its fencing counter: the last token given out
-- ARGV  1 life of the counter in ms, 0 for ever
--       2 lease in ms   3 owner   4 how many tokens
--
-- Returns the first token; or {1, the first token, how many} when they are fewer than
-- wanted; or, when the owner has the lock already, {1, the last token}; or, when it is
-- held, {0, ms left, owner}.

local call = redis.call
local owner = ARGV[3]

local function refuse(holder)
  return {0, call('pttl', KEYS[1]), holder}
end

-- The counter is judged, and the time asked for, before anything is written: who is told
-- of a failure has no lock.
local counter = call('get', KEYS[2])
local last = tonumber(counter or 0)
if not last or not (last <= 9e15) then
  local holder = call('get', KEYS[1])
  if holder and holder ~= owner then
    return refuse(holder)
  end
  return redis.error_reply('WRONGTYPE the fencing counter ' .. KEYS[2] .. ' is not a usable number')
end

local time = call('time')
if not call('set', KEYS[1], owner, 'nx', 'px', ARGV[2]) then
  local holder = call('get', KEYS[1])
  if holder ~= owner then
    return refuse(holder)
  end
  -- An earlier copy of this request was granted, and the counter stands where
  -- that has left it; unless it was lost.
  call('pexpire', KEYS[1], ARGV[2])
  if counter then
    return {1, last}
  end
end

-- The counter is never below the server's clock in microseconds, so that it does not
-- go back when it was lost; and it gives out no more than the clock has passed, but
-- one, so that nothing was given out above it.
local before, count = last, tonumber(ARGV[4])
last = math.max(tonumber(string.format('%d%06d', time[1], time[2])), before + 1)
if ARGV[1] == '0' then
  call('set', KEYS[2], string.format('%.0f', last))
else
  call('set', KEYS[2], string.format('%.0f', last), 'px', ARGV[1])
end
local given = counter and math.min(count, last - before) or 1
if given < count then
  return {1, last - given + 1, given}
end
return last - given + 1
