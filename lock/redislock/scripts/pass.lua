-- pass gives a lock to the first of its heirs who is there, and tells that one's client, with how
-- often in a row it was passed on by now, for how many µs, and how many others were in line at most. The
-- renamed key brings everything along, its end too; a claim that has run out is not there to be renamed. It
-- reports whether somebody has the lock, and whether nobody has it any more.
local function pass(lock, heirs, times, age, others)
  local at, taken = 1, false
  while true do
    local from, to, client, owner, request = string.find(heirs, '^([^ :]+):(%d+):(%d+) ', at)
    if not from then
      break
    end
    at = to + 1
    local moved = redis.pcall('rename', heirKey(lock, client), lock)
    if not moved.err then
      local told = notify(client,
        'granted ' .. owner .. ' ' .. request .. ' ' .. times .. ' ' .. age .. ' ' .. others .. ' ' .. lock)
      if type(told) == 'number' and told > 0 then
        if at <= #heirs then
          redis.call('hset', lock, HEIRS, string.sub(heirs, at))
        end
        return true
      end
      taken = true -- by one whose client has gone
    elseif not string.find(moved.err, 'no such key', 1, true) then
      break -- this user may not
    end
  end
  if taken then
    redis.call('del', lock)
  end
  return false, taken
end
