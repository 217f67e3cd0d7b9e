-- Renews the holds of read-write locks of one slot; what is gone is not made again. Who listens is told where a
-- life is cut short.
--
-- KEYS  of each: the lock, this reader's hold, what is known of its holders, the upgradeable reader
-- ARGV  PUBLISH or SPUBLISH, or empty if it is not known which; how channels begin; then owner, read, upgradeable
--       or write, and lease in ms of each
--
-- Returns 1 for each that was renewed, 0 for each that is lost, -1 for each whose key holds something else.

local call = redis.call

local function renew(lock, hold, holders, upgrade, owner, how, lease)
  local field = how == 'write' and owner .. ':write' or owner
  local has = redis.pcall('hget', lock, field)
  if type(has) == 'table' then
    return string.find(has.err, 'WRONGTYPE') and -1 or has
  elseif has ~= '1' or how ~= 'write' and call('exists', hold) == 0 then
    return 0
  end
  local before, life = call('pttl', how == 'write' and lock or hold), tonumber(lease)
  if how ~= 'write' then
    call('pexpire', hold, lease)
  end
  if how == 'upgradeable' and call('get', upgrade) == owner then
    call('pexpire', upgrade, lease)
  end
  local others = readers(lock, how == 'write' and '' or owner)
  if how ~= 'write' and call('hget', lock, 'mode') == 'write' then
    others = math.max(others, call('pttl', lock))
  end
  call('pexpire', lock, math.max(life, others))
  atLeast(holders, math.max(life, others))
  if before > life then
    hint(ARGV[2] .. tagged(lock))
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
