-- Takes a read-write lock to read or to write.
--
-- KEYS  1 the lock   2 its fencing counter   3 this hold   4 what is known of its holders   5 the writer who waits
--       6 the upgradeable reader   7 the readers who wait   8 those of them whose turn it is
-- ARGV  1 life of the counter in ms, 0 for ever   2 lease in ms   3 owner   4 how many tokens   5 metadata
--       6 read, upgradeable or write   7 the owner over whose grant it is had, or empty   8 for how long a writer
--       who waits keeps readers off, in ms, or empty if the caller does not wait   9 the turn of readers, in ms
--
-- Returns {1, the first token, how many}; or, when it is held, {0, ms left, who has it, 1 if that one only
-- waits, when to ask again in ms or 0}; or {2, kind} of another kind; or {3} if there is nothing to go over.

local call = redis.call
local lock, counter, hold, holders, claim, upgrade, waiting, turn = unpack(KEYS)
local lease, owner, how, over = ARGV[2], ARGV[3], ARGV[6], ARGV[7]
local writes = how == 'write'
local field = writes and owner .. ':write' or owner

local kind, wrong = kindOf(lock)
if wrong then
  return wrong
elseif kind == SEMAPHORE and forgetSemaphore(lock) then
  kind = nil
elseif kind and kind ~= READWRITE then
  return {2, kind}
end
local has, life, endless
if kind then
  has, life = writer(lock, holders)
  endless = call('pttl', lock) == -1 -- it has lost its end: a renewal gives it one for all who have it
end

-- prolong makes what the owner has live for the lease, from now on. Beside others of its process a writer lives by
-- itself.
local function prolong()
  if not writes and over ~= '' and has == over then
    call('set', holdKey(lock, over .. ':write', 1), '1', 'px', life)
  end
  if not writes or over ~= '' or call('exists', hold) == 1 then
    call('set', hold, '1', 'px', lease)
  end
  if how == 'upgradeable' then
    call('set', upgrade, owner, 'px', lease)
  end
  atLeast(holders, lease)
  return endless and 1 or atLeast(lock, lease)
end

-- recordWriter keeps readers off who come later, unless another writer does so. It returns when to ask again.
local function recordWriter()
  local first = call('get', claim)
  if first and first ~= owner then
    return math.max(call('pttl', claim), tonumber(ARGV[9]))
  end
  call('set', claim, owner, 'px', ARGV[8])
  return tonumber(ARGV[8])
end

-- refuse tells who is in the way, and records that the caller waits.
local function refuse(left, who, waits)
  local again = 0
  if ARGV[8] ~= '' and writes then
    again = recordWriter()
  elseif ARGV[8] ~= '' and left > 0 then
    call('hset', waiting, owner, '1')
    atLeast(waiting, left)
  end
  return {0, left, who, waits, again}
end

-- isThere reports whether what the request goes over is there.
local function isThere()
  if writes then
    return call('hexists', lock, over) == 1 and call('get', upgrade) == over
  end
  return has == over
end

-- inTheWayOfWriter answers if somebody is.
local function inTheWayOfWriter()
  local left, who = readers(lock, holders, over)
  if left > 0 then
    return refuse(left, who, 0)
  end
  local first = over == '' and call('hkeys', turn)[1]
  if first then
    return refuse(call('pttl', turn), first, 1)
  end
end

-- inTheWay answers if somebody is.
local function inTheWay()
  if has and (has ~= over or over == '') then
    return refuse(life, has, 0)
  elseif writes then
    return inTheWayOfWriter()
  end
  local first = over == '' and call('get', claim)
  if first and call('hexists', turn, owner) == 0 then
    return refuse(call('pttl', claim), first, 1)
  end
  local upgradeable = how == 'upgradeable' and call('get', upgrade)
  if upgradeable and upgradeable ~= owner and call('hexists', lock, upgradeable) == 1 then
    return {0, call('pttl', upgrade), upgradeable, 0, 0} -- it waits for a reader
  end
end

if writes and kind and has ~= owner and hasBecomeReader(lock, owner) then
  -- An earlier copy of this request was granted, and reads by now: see rw_downgrade.lua.
  hold = holdKey(lock, owner, 1)
  prolong()
  return {1, recorded(holders, counter, owner)}
end
if has == owner and writes or not writes and call('hexists', lock, field) == 1 and call('exists', hold) == 1 then
  -- An earlier copy of this request was granted.
  prolong()
  return {1, recorded(holders, counter, owner)}
end
if over ~= '' and not isThere() then
  return {3}
end
local held = inTheWay()
if held then
  return held
end

local first, given = advance(counter, tonumber(ARGV[4]))
if not first then
  return given
end
local alone = over == '' and (writes or not kind)
if alone then
  call('del', lock, holders) -- dead readers may be there
  endless = false
end
call('hset', lock, field, '1')
if writes then
  call('hset', lock, 'mode', 'write')
elseif over == '' then
  call('hset', lock, 'mode', 'read')
end
local expiring = prolong()
if expiring ~= 1 and alone then
  -- A user without this permission must not leave a lock that never ends.
  call('del', lock)
  return expiring
end
record(holders, owner, first, given, ARGV[5], lease)
if not writes then
  call('hdel', waiting, owner)
  call('hdel', turn, owner)
elseif call('get', claim) == owner then
  call('del', claim)
end
return {1, first, given}
