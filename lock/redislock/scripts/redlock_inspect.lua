-- Describes a lock.
--
-- KEYS, ARGV and the result are those of inspect.lua; the owner is told as the
-- only field.

local holder = redis.call('get', KEYS[1])
local answer = {redis.call('pttl', KEYS[1]), redis.call('get', KEYS[2]) or '', 0}
local listening = redis.pcall('pubsub', ARGV[1], KEYS[3])
if listening[2] then
  answer[3] = listening[2]
end
if holder then
  answer[4], answer[5] = holder, '1'
end
return answer
