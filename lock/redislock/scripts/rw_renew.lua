-- Renews the holds of read-write locks of one slot; what is gone is not made again. Who listens is told where a
-- life is cut short, and what has lost its end has one again.
--
-- KEYS  of each: the lock, this hold, what is known of its holders, the upgradeable reader
-- ARGV  PUBLISH or SPUBLISH, or empty if it is not known which; how channels begin; then owner, read, upgradeable
--       or write, and lease in ms of each
--
-- Returns 1 for each that was renewed, 0 for each that is lost, -1 for each whose key holds something else.

local call = redis.call

-- livesBeside returns how long others have the lock.
local function livesBeside(lock, holders, owner, writes)
  local left = readers(lock, holders, writes and '' or owner)
  local has, life = writerOf(lock)
  if has and has ~= owner then
    left = math.max(left, life)
  end
  return left
end

local function renew(lock, hold, holders, upgrade, owner, how, lease)
  local writes = how == 'write'
  local has = redis.pcall('hget', lock, 'mode')
  if type(has) == 'table' then
    return string.find(has.err, 'WRONGTYPE') and -1 or has
  end
  if writes and hasBecomeReader(lock, owner) then
    writes, hold = false, holdKey(lock, owner, 1)
  end
  if not hasHold(lock, hold, holders, owner, writes) then
    return 0
  end
  local before, life = call('pttl', hold), tonumber(lease)
  if before < 0 then
    before = call('pttl', lock) -- of a writer with nobody beside
  else
    call('pexpire', hold, lease)
  end
  if how == 'upgradeable' and call('get', upgrade) == owner then
    call('pexpire', upgrade, lease)
  end
  atLeast(holders, life)
  local left = call('pttl', lock)
  if before > life or left == -1 then
    call('pexpire', lock, math.max(life, livesBeside(lock, holders, owner, writes)))
    hint(ARGV[2] .. tagged(lock))
  else
    if left < life then
      redis.pcall('pexpire', lock, life)
    end
    lookAtSome(lock, holders)
  end
  return 1
end

local answer = {}
for i = 1, #KEYS / 4 do
  answer[i] = renew(KEYS[4 * i - 3], KEYS[4 * i - 2], KEYS[4 * i - 1], KEYS[4 * i],
    ARGV[3 * i], ARGV[3 * i + 1], ARGV[3 * i + 2])
  if type(answer[i]) == 'table' then
    return answer[i]
  end
end
return answer
