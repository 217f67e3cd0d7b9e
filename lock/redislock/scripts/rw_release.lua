-- Gives a read-write lock back.
--
-- KEYS  1 the lock   2 its channel   3 the latch of this owner   4 this reader's hold   5 what is known of its
--       holders   6 the writer who waits   7 the upgradeable reader   8 whether readers wait
-- ARGV  1 PUBLISH or SPUBLISH, or empty if it is not known which   2 owner   3 read or write   4 life of the latch
--       in ms   5 the turn of readers, in ms
--
-- Returns how many listen for the release, 0 if nobody need hear of it; or -1 when the owner does not have the lock.

local call = redis.call
local lock, channel, latch, hold, holders, claim, upgrade, waiting = unpack(KEYS)
local owner, writes = ARGV[2], ARGV[3] == 'write'

if call('exists', latch) == 1 then
  return 0
end

local field = writes and owner .. ':write' or owner
if redis.pcall('hget', lock, field) ~= '1' or not writes and call('exists', hold) == 0 then
  if call('get', claim) == owner then
    tellAll(channel)
    call('del', claim)
  end
  return -1
end

-- giveReadersTheirGo lets the readers who wait come before the next writer keeps them off.
local function giveReadersTheirGo()
  call('del', claim)
  if call('exists', waiting) == 1 then
    call('set', claim, OFREADERS, 'px', ARGV[5])
    call('del', waiting)
  end
end

-- tellWhoCanComeIn returns how many listen, if somebody can. By 0 Redisson wakes one who waits in each process.
local function tellWhoCanComeIn(living)
  if writes then
    return tellAll(channel)
  end
  local upgradeable = call('get', upgrade)
  if living == 0 or upgradeable == owner or living == 1 and upgradeable and call('hexists', lock, upgradeable) == 1 then
    return tell(channel, '0')
  end
  return 0
end

local left, _, living = readers(lock, owner)
local over = not writes and call('hget', lock, 'mode') == 'write' -- a writer has it over this reader
-- Publishing goes first: if this user may not, nothing has happened.
local listening = over and 0 or tellWhoCanComeIn(living)
call('hdel', lock, field)
call('hdel', holders, owner)
if not writes then
  call('del', hold)
  if call('get', upgrade) == owner then
    call('del', upgrade)
  end
end
if over then
  call('psetex', latch, ARGV[4], '1')
  return 0
end
if living == 0 then
  call('del', lock, holders)
else
  call('hset', lock, 'mode', 'read')
  call('pexpire', lock, left)
end
if writes then
  giveReadersTheirGo()
end
call('psetex', latch, ARGV[4], '1')
return listening
