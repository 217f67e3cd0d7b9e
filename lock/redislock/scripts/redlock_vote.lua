-- Takes one lock that is to be one of several, in the layout of Redlock's clients, once.
--
-- KEYS, ARGV and the result are those of vote.lua. The layout has no place for metadata.

local lock, counter, lease, owner = KEYS[1], KEYS[2], ARGV[2], ARGV[3]
local above, age = tonumber(ARGV[6]), tonumber(ARGV[7])

local holder = call('get', lock)
if holder and holder ~= owner then
  return {0, call('pttl', lock), holder}
end
if holder then
  -- An earlier copy of this request was granted, and the counter stands where that has left it; unless it was lost.
  local last = tonumber(call('get', counter) or nil)
  if last and last > above then
    call('pexpire', lock, lease)
    return {1, last}
  end
elseif age > 0 then
  local kept, wrong = hasKept(age)
  if not kept then
    return wrong or {4}
  end
end

local first, given = advanceAbove(counter, above, tonumber(ARGV[4]))
if not first then
  return given
end
call('set', lock, owner, 'px', lease)
if given < tonumber(ARGV[4]) then
  return {1, first, given}
end
return first
