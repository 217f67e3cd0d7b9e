-- Takes a lock in Redisson's layout, once. Every call below is a good part of
-- what a lock costs the server; the usual way has five of them.
--
-- KEYS  1 the lock: a hash, field owner -> 1, with a time to live
--       2 its fencing counter: the last token given out, a plain integer
-- ARGV  1 lease in ms   2 owner   3 how many tokens   4 metadata, or empty
--       5 life of the counter in ms, 0 for ever
--
-- Returns the first token; or, when the owner has the lock already, {1, the
-- last token}; or, when it is held, {0, ms left, field...}.

local call = redis.call

if call('exists', KEYS[1]) == 1 then
  -- WRONGTYPE ends the script here when the key is not a lock at all.
  if call('hexists', KEYS[1], ARGV[2]) == 0 then
    local answer = {0, call('pttl', KEYS[1])}
    if call('hlen', KEYS[1]) <= 16 then
      for _, field in ipairs(call('hkeys', KEYS[1])) do
        answer[#answer + 1] = field
      end
    end
    return answer
  end
  -- An earlier copy of this request was granted. Nobody can have moved the
  -- counter since, so what stands there is this owner's; unless it was lost.
  local last = tonumber(call('get', KEYS[2]) or nil)
  if last then
    call('pexpire', KEYS[1], ARGV[1])
    return {1, last}
  end
end

-- The counter is never below the server's clock in microseconds, so that it
-- does not go back when it was lost, and most often one SET moves it on.
local time = call('time')
local micros = time[2]
if #micros < 6 then
  micros = string.rep('0', 6 - #micros) .. micros
end
local clock = time[1] .. micros
local old
if ARGV[5] == '0' then
  old = call('set', KEYS[2], clock, 'get')
else
  old = call('set', KEYS[2], clock, 'px', ARGV[5], 'get')
end
local last = tonumber(clock)
if old then
  local before = tonumber(old)
  if not before or before > 9e15 then
    call('set', KEYS[2], old)
    return redis.error_reply('WRONGTYPE the fencing counter ' .. KEYS[2] .. ' is not a usable number')
  end
  if before + ARGV[3] > last then
    last = before + ARGV[3]
    call('set', KEYS[2], string.format('%.0f', last), 'keepttl')
  end
end

if ARGV[4] == '' then
  call('hset', KEYS[1], ARGV[2], '1')
else
  call('hset', KEYS[1], ARGV[2], '1', 'bedrock:meta', ARGV[4])
end
local expiring = redis.pcall('pexpire', KEYS[1], ARGV[1])
if expiring ~= 1 then
  -- A user without this permission must not leave a lock that never ends.
  call('del', KEYS[1])
  return expiring
end
return last - ARGV[3] + 1
