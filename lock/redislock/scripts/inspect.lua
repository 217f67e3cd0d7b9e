-- Describes a lock.
--
-- KEYS  1 the lock   2 its fencing counter   3 its channel
-- ARGV  1 NUMSUB or SHARDNUMSUB, or empty if it is not known which
--
-- Returns {ms left, last token, listening, field, value, ...}.

-- listening counts who listens; both ways while it is not known how they do.
local function listening()
  local sum = 0
  for _, count in ipairs(ARGV[1] ~= '' and {ARGV[1]} or {'SHARDNUMSUB', 'NUMSUB'}) do
    sum = sum + (redis.pcall('pubsub', count, KEYS[3])[2] or 0)
  end
  return sum
end

local kind = redis.call('type', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. KEYS[1] .. ' is not a lock but a ' .. kind)
end
local answer = {redis.call('pttl', KEYS[1]), redis.call('get', KEYS[2]) or '', listening()}
if redis.call('hlen', KEYS[1]) <= 64 then
  for _, text in ipairs(redis.call('hgetall', KEYS[1])) do
    answer[#answer + 1] = text
  end
end
return answer
