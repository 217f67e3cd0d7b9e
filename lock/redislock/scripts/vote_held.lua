-- vote_held.lua: the end of vote.lua, for a lock that is there.

-- raise gives the owner, who has the lock, tokens above the one that was asked for. Who stands in line for it has
-- lower ones then, and must not have the lock by that: they find it free, as others do.
local function raise()
  local about = call('hmget', lock, 'bedrock:token', HEIRS)
  local first, given = advanceAbove(counter, above, tonumber(ARGV[4]))
  if not first then
    return given
  end
  local last = string.format('%.0f', first + given - 1)
  if about[2] then
    call('hset', lock, 'bedrock:token', last, HEIRS, '')
  elseif about[1] then
    call('hset', lock, 'bedrock:token', last)
  end
  return answerWith(first, given)
end

local answer = askHeld(lock, counter, lease, owner, ARGV[4], meta, '')
if answer and answer[1] == 1 and answer[2] <= above then
  return raise()
elseif answer then
  return answer
elseif call('exists', lock) == 1 then
  return grant() -- an earlier copy of this request was granted, and its tokens are lost
end
return grantFree()
