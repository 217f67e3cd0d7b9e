-- Takes a read-write lock to read or to write.
--
-- KEYS  1 the lock   2 its fencing counter   3 this reader's hold   4 what is known of its holders
--       5 the writer who waits   6 the upgradeable reader   7 whether readers wait
-- ARGV  1 life of the counter in ms, 0 for ever   2 lease in ms   3 owner   4 how many tokens   5 metadata
--       6 read, upgradeable or write   7 the owner over whose grant it is had, or empty   8 for how long a writer
--       who waits keeps readers off, in ms, or empty if the caller does not wait   9 the turn of readers, in ms
--
-- Returns {1, the first token, how many}; or, when it is held, {0, ms left, who has it, 1 if that one only
-- waits, when to ask again in ms or 0}; or {2, kind} of another kind; or {3} if there is nothing to go over.

local call = redis.call
local lock, counter, hold, holders, claim, upgrade, waiting = unpack(KEYS)
local lease, owner, how, over = ARGV[2], ARGV[3], ARGV[6], ARGV[7]
local field = how == 'write' and owner .. ':write' or owner

local kind, wrong = kindOf(lock)
if wrong then
  return wrong
elseif kind == SEMAPHORE and forgetSemaphore(lock) then
  kind = nil
elseif kind and kind ~= READWRITE then
  return {2, kind}
end

-- prolong makes what the owner has live for the lease, from now on.
local function prolong()
  if how ~= 'write' then
    call('set', hold, '1', 'px', lease)
  end
  if how == 'upgradeable' then
    call('set', upgrade, owner, 'px', lease)
  end
  atLeast(holders, lease)
  return atLeast(lock, lease)
end

-- refuse tells who is in the way, and records that the caller waits.
local function refuse(left, who, waits)
  local again = 0
  if ARGV[8] ~= '' and how == 'write' then
    local first = call('get', claim)
    if not first or first == owner then
      call('set', claim, owner, 'px', ARGV[8])
      again = ARGV[8]
    else
      again = ARGV[9]
    end
  elseif ARGV[8] ~= '' and left > 0 and call('pttl', waiting) < left then
    call('set', waiting, '1', 'px', left)
  end
  return {0, left, who, waits, tonumber(again)}
end

-- isThere reports whether what the request goes over is there.
local function isThere()
  if how == 'write' then
    return call('hexists', lock, over) == 1 and call('get', upgrade) == over
  end
  return call('hexists', lock, over .. ':write') == 1
end

-- inTheWay answers if somebody is.
local function inTheWay()
  local writes = kind and writer(lock)
  if writes and writes ~= over then
    return refuse(call('pttl', lock), writes, 0)
  end
  if how == 'write' then
    local left, who = readers(lock, over)
    if left > 0 then
      return refuse(left, who, 0)
    end
    return
  end
  local first = call('get', claim)
  if over == '' and first and first ~= OFREADERS then
    return refuse(call('pttl', claim), first, 1)
  end
  local upgradeable = how == 'upgradeable' and call('get', upgrade)
  if upgradeable and upgradeable ~= owner and call('hexists', lock, upgradeable) == 1 then
    return refuse(call('pttl', upgrade), upgradeable, 0)
  end
end

if call('hexists', lock, field) == 1 and (how == 'write' or call('exists', hold) == 1) then
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
local alone = over == '' and (how == 'write' or not kind)
if alone then
  call('del', lock, holders) -- dead readers may be there
end
call('hset', lock, field, '1')
if how == 'write' then
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
if call('get', claim) == owner then
  call('del', claim)
end
return {1, first, given}
