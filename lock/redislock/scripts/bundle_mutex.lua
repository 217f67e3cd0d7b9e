-- bundle_mutex.lua: what bundle.lua does with each lock, in Redisson's layout.

-- examine finds out what is to be known of a lock, and changes nothing. It returns the lock's kind if that is another,
-- or an error if the key is no lock.
local function examine(want)
  if not isThere(want.lock) then
    return
  end
  local about, otherKind = aboutOf(want.lock, want.owner)
  if not about then
    want.unused = not otherKind
    return otherKind and (otherKind[2] or otherKind)
  end
  want.about, want.held = about, about[1] ~= '1'
  want.last = not want.held and lastToken(about, want.counter)
end

-- refuseHeld tells who has a lock, after what else there is to tell; and that one, that it is wanted.
local function refuseHeld(want, answer)
  recall(want.lock, want.about)
  return refuse(want.lock, answer)
end

-- write makes the lock the owner's. It returns an error if this user may not.
local function write(want)
  if want.unused then
    forgetSemaphore(want.lock)
  end
  return give(want.lock, want.lease, want.owner, want.meta)
end
