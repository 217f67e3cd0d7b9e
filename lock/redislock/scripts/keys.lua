-- keys.lua: the keys beside a lock that scripts find by themselves.

-- tagged returns a name as keys beside it have it.
local function tagged(lock)
  return string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}'
end

-- beside returns a key of our own beside a lock: "x" and "{x}" have different ones.
local function beside(prefix, lock)
  if string.find(lock, '{', 1, true) then
    return prefix .. lock .. ':tagged'
  end
  return prefix .. '{' .. lock .. '}'
end

-- queueOf returns where those stand who wait for a lock in order; nothing for the lock "{x}", as that is where those
-- of the lock "x" stand.
local function queueOf(lock)
  return not string.find(lock, '^{[^{]*}$') and 'redisson_lock_queue:' .. tagged(lock)
end
