-- Describes a lock.
--
-- KEYS  1 the lock   2 its fencing counter   3 its channel
-- ARGV  1 NUMSUB or SHARDNUMSUB
--
-- Returns {ms left, last token, listening, field, value, ...}.

local kind = redis.call('type', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. KEYS[1] .. ' is not a lock but a ' .. kind)
end
local answer = {redis.call('pttl', KEYS[1]), redis.call('get', KEYS[2]) or '', 0}
local listening = redis.pcall('pubsub', ARGV[1], KEYS[3])
if listening[2] then
  answer[3] = listening[2]
end
if redis.call('hlen', KEYS[1]) <= 64 then
  for _, text in ipairs(redis.call('hgetall', KEYS[1])) do
    answer[#answer + 1] = text
  end
end
return answer
