-- Opens a latch, whatever is left. The number is what was. It is told as at zero: Redisson says 1 of a latch that it
-- drops, and has those who await it sleep on.
--
-- KEYS, ARGV and the result are those of countdown.lua; there is no call to be known again.

local left, other = countLeft()
if not left then
  return other
elseif left > 0 then
  tellAwaiting('0')
  call('del', name, mark)
end
return {1, left}
