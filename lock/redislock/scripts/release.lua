-- Gives a lock back.
--
-- KEYS  1 the lock   2 its channel   3 this client's latch for it
-- ARGV  1 owner   2 PUBLISH or SPUBLISH   3 life of the latch in ms
--
-- Returns how many listen for the release, or -1 when the owner has no lock.

local call = redis.call

if call('hexists', KEYS[1], ARGV[1]) == 0 then
  -- An earlier copy of this very request may have done it.
  if call('get', KEYS[3]) == ARGV[1] then
    return 0
  end
  return -1
end

-- Publishing goes first: if this user may not, nothing has happened. Listeners
-- hear of it only after the script.
local listening = call(ARGV[2], KEYS[2], '0')
call('del', KEYS[1])
redis.pcall('psetex', KEYS[3], ARGV[3], ARGV[1])
return listening
