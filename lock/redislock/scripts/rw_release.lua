-- Gives a read-write lock back.
--
-- KEYS  1 the lock   2 its channel   3 the latch of this owner   4 this hold   5 what is known of its holders   6 the
--       writer who waits   7 the upgradeable reader   8 the readers who wait   9 those of them whose turn it is
-- ARGV  1 PUBLISH or SPUBLISH, or empty if it is not known which   2 owner   3 read, upgradeable or write   4 life of
--       the latch in ms   5 the turn of readers, in ms
--
-- Returns how many listen for the release, 0 if nobody need hear of it; or -1 when the owner does not have the lock.

local call = redis.call
local lock, channel, latch, hold, holders, claim, upgrade, waiting, turn = unpack(KEYS)
local owner, writes = ARGV[2], ARGV[3] == 'write'

if writes and hasBecomeReader(lock, owner) then
  writes, hold = false, holdKey(lock, owner, 1)
end

-- withdraw takes back what the owner has by waiting.
local function withdraw()
  local freed = call('get', claim) == owner and call('del', claim) == 1
  call('hdel', waiting, owner)
  if call('hdel', turn, owner) == 1 and call('exists', turn) == 0 then
    freed = true
  end
  if freed then
    tellAll(channel)
  end
end

local field, has = writes and owner .. ':write' or owner, writer(lock, holders)
if redis.pcall('hget', lock, field) ~= '1' or not writes and call('exists', hold) == 0 then
  withdraw()
  -- It was given back a moment ago, or never there. A latch alone does not say so: a copy of the request that was late
  -- may have been granted since.
  return call('exists', latch) == 1 and 0 or -1
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

-- isNext reports whether a writer comes next who waits: after one who has written over its upgradeable read and reads
-- on. Else those who upgrade in turn would let each other in, as readers who have waited, and nobody else.
local function isNext()
  local first, upgradeable = call('get', claim), call('get', upgrade)
  return first and first ~= owner and upgradeable and call('hexists', lock, upgradeable) == 1
end

-- leave takes the owner out.
local function leave()
  call('hdel', lock, field)
  call('hdel', holders, owner)
  call('del', hold)
  if not writes and call('get', upgrade) == owner then
    call('del', upgrade)
  end
  call('psetex', latch, ARGV[4], '1')
end

local left, _, living = readers(lock, holders, owner)
if has and not writes then -- a writer has it over this reader
  local life = call('pttl', holdKey(lock, has .. ':write', 1))
  leave()
  if life > 0 then
    call('pexpire', lock, math.max(left, life))
  end
  return 0
end
-- Publishing goes first: if this user may not, nothing has happened.
local listening = tellWhoCanComeIn(living)
leave()
if living > 0 then
  call('hset', lock, 'mode', 'read')
  call('pexpire', lock, left)
else
  call('del', lock, holders)
end
if writes and call('exists', waiting) == 1 and not isNext() then
  -- Readers who have waited come before the next writer.
  call('rename', waiting, turn)
  call('pexpire', turn, ARGV[5])
end
return listening
