-- Hands records of one shard over to an owner, those that can still be claimed.
--
-- KEYS  the index and the queue, then the records
-- ARGV  owner, lease in microseconds, the target or empty, then the records' IDs
--
-- Returns the time, and each record handed over: its ID and all values.

local index, queue = KEYS[1], KEYS[2]
local owner, lease, target = ARGV[1], ARGV[2], ARGV[3]
local clock = now()
local expiry = stamp(clock + lease)

local function claimable(is, waits)
  if target ~= '' then
    return is.waits and waits == target
  end
  return is.due and tonumber(is.due) <= clock
end

local function raised(number)
  return string.format('%.0f', number + 1)
end

local function take(key, id)
  local r = call('hmget', key,
    'mode', 'name', 'digest', 'created', 'status', 'parked', 'waits', 'owner',
    'epoch', 'due', 'deadline', 'updated', 'finished', 'revision', 'state', 'spec')
  if not r[1] then
    call('zrem', queue, id) -- somebody else removed the record
    return nil
  end
  local was = places(id, r[4], r[5], r[6], r[7], r[10])
  if not claimable(was, r[7]) then
    return nil
  end
  r[7], r[8], r[9], r[10], r[14] = '', owner, raised(r[9]), expiry, raised(r[14])
  call('hset', key, 'waits', '', 'owner', owner, 'epoch', r[9], 'due', expiry, 'revision', r[14])
  move(index, queue, id, was, places(id, r[4], r[5], r[6], '', expiry))
  table.insert(r, 1, id)
  return r
end

local answer = {stamp(clock)}
for i = 3, #KEYS do
  answer[#answer + 1] = take(KEYS[i], ARGV[i + 1])
end
return answer
