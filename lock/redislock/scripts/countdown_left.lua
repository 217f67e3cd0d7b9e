-- Counts what is left of a latch, the number.
--
-- KEYS, ARGV and the result are those of countdown.lua; there is no call to be known again.

local left, other = countLeft()
if not left then
  return other
end
return {1, left}
