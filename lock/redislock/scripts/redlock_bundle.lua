-- redlock_bundle.lua: what bundle.lua does with each lock, in the layout of Redlock's clients. It has no kinds, and no
-- place for metadata.

-- examine finds out what is to be known of a lock, and changes nothing.
local function examine(want)
  want.about = call('get', want.lock)
  want.held = want.about and want.about ~= want.owner
  want.last = want.about == want.owner and tonumber(call('get', want.counter) or nil)
end

-- refuseHeld tells who has a lock, after what else there is to tell.
local function refuseHeld(want, answer)
  answer[#answer + 1] = call('pttl', want.lock)
  answer[#answer + 1] = want.about
  return answer
end

-- write makes the lock the owner's.
local function write(want) call('set', want.lock, want.owner, 'px', want.lease) end
