-- Takes a lock in Redisson's layout, once.
--
-- KEYS  1 the lock: a hash, field owner -> 1, with a time to live
--       2 its fencing counter: the last token given out, a plain integer
-- ARGV  1 lease in ms   2 owner   3 how many tokens   4 metadata, or empty
--       5 life of the counter in ms, 0 for ever
--
-- Returns the first token; or, when the owner has the lock already,
-- {1, first token, tokens, since}; or, when it is held, {0, ms left, field...}.

if redis.call('exists', KEYS[1]) == 1 then
  -- WRONGTYPE ends the script here when the key is not a lock at all.
  local grant = redis.call('hget', KEYS[1], 'bedrock:grant')
  if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
    redis.call('pexpire', KEYS[1], ARGV[1])
    return {1, grant or ''}
  end
  local answer = {0, redis.call('pttl', KEYS[1])}
  if redis.call('hlen', KEYS[1]) <= 16 then
    for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
      answer[#answer + 1] = field
    end
  end
  return answer
end

-- The counter is never below the server's clock in microseconds, so that it
-- does not go back when it was lost, and most often one SET moves it on.
local time = redis.call('time')
local clock = string.format('%d%06d', time[1], time[2])
local now, count = tonumber(clock), tonumber(ARGV[3])
local old
if ARGV[5] == '0' then
  old = redis.call('set', KEYS[2], clock, 'get')
else
  old = redis.call('set', KEYS[2], clock, 'px', ARGV[5], 'get')
end
local last = now
if old then
  local before = tonumber(old)
  if not before or before > 9e15 then
    redis.call('set', KEYS[2], old)
    return redis.error_reply('WRONGTYPE the fencing counter ' .. KEYS[2] .. ' is not a usable number')
  end
  if before + count > now then
    last = before + count
    redis.call('set', KEYS[2], string.format('%.0f', last), 'keepttl')
  end
end

local first = last - count + 1
local grant = string.format('%.0f %s %s', first, ARGV[3], string.sub(clock, 1, -4))
if ARGV[4] == '' then
  redis.call('hset', KEYS[1], ARGV[2], 1, 'bedrock:grant', grant)
else
  redis.call('hset', KEYS[1], ARGV[2], 1, 'bedrock:grant', grant, 'bedrock:meta', ARGV[4])
end
local expiring = redis.pcall('pexpire', KEYS[1], ARGV[1])
if expiring ~= 1 then
  -- A user without this permission must not leave a lock that never ends.
  redis.call('del', KEYS[1])
  return expiring
end
return first
