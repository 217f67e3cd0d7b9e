-- Counts a latch down, and opens it at zero. The number is what is left.
--
-- KEYS, ARGV and the result are those of countdown.lua.

local known = answerBefore()
if known then
  return known
end
local left, other = countLeft()
local by = tonumber(ARGV[4])
if not left then
  return other.err and other or answer(other[1], other[2])
elseif left < by then
  return answer(0, left)
elseif left > by then
  return answerAfter(left - by, function() call('decrby', name, ARGV[4]) end)
end
tellAwaiting('0')
return answerAfter(0, function() call('del', name, mark) end)
