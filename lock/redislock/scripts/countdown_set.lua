-- Gives a latch its count, if it has none. Not done, the number is 0.
--
-- KEYS, ARGV and the result are those of countdown.lua.

local known = answerBefore()
if known then
  return known
end
local left, other = countLeft()
if not left then
  return other.err and other or answer(other[1], other[2])
elseif left > 0 then
  return answer(0, 0)
end
tellAwaiting('1')
return answerAfter(tonumber(ARGV[4]), function()
  call('set', mark, '1')
  local set = redis.pcall('set', name, ARGV[4])
  if set.err then
    call('del', mark)
    error(set)
  end
  -- Of a semaphore that was only remembered. Permits of the dead would come back to the latch, or be taken for it.
  pcall(function() call('del', takenOf(name), beside('bedrock_holders:', name)) end)
end)
