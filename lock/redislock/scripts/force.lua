-- Frees a lock whoever holds it, and tells those. It raises its token first, so that a guard
-- refuses the former holders as soon as it has seen a newer one.
--
-- KEYS  1 the lock   2 its fencing counter   3 its channel, if it is a mutex
-- ARGV  1 PUBLISH or SPUBLISH, or empty if it is not known which   2 life of the counter in ms, 0 for ever
--
-- Returns 1 when the lock was held, 0 when it was not, -1 when the name is that of a latch.

local lock, counter = KEYS[1], KEYS[2]
local holders = beside('bedrock_holders:', lock)
local kind, wrong = kindOf(lock)
if wrong then
  return wrong
elseif kind == LATCH then
  return -1
end
kind = kind or hasLostNumber(lock) and SEMAPHORE or nil

local former = ownersOf(lock, kind)
local taken = kind == SEMAPHORE and takenOf(lock) -- who has mutexes alone may not look

-- Anybody's hash or number must not be deleted for a lock.
local function isLock()
  if kind == SEMAPHORE then
    return redis.call('exists', taken, counter) > 0
  end
  return redis.call('exists', counter) == 1 or redis.call('hget', lock, 'bedrock:meta')
    or #former > 0
end

if kind and not isLock() then
  local found = kind == SEMAPHORE and 'number, but not a semaphore' or 'hash, but not a lock'
  return redis.error_reply('WRONGTYPE the key ' .. lock .. ' is a ' .. found)
end

local time = redis.call('time')
local now = tonumber(string.format('%d%06d', time[1], time[2]))
local old = tonumber(redis.call('get', counter) or 0)
if not old or not (old <= 9e15) then
  return redis.error_reply('WRONGTYPE the fencing counter ' .. counter .. ' is not a usable number')
end

-- tellWaiting wakes those who wait, as a release does.
local function tellWaiting()
  if kind == SEMAPHORE then
    tell('redisson_sc:' .. tagged(lock), tostring(math.max(redis.call('zcard', taken), 1)))
  elseif kind == READWRITE then
    tellAll('redisson_rwlock:' .. tagged(lock))
  else
    tell(KEYS[3], '0')
  end
end

-- Publishing goes first: if this user may not, nothing has happened.
tellWaiting()
local last = string.format('%.0f', math.max(old + 2, now))
if ARGV[2] == '0' then
  redis.call('set', counter, last)
else
  redis.call('set', counter, last, 'px', ARGV[2])
end

-- free takes the lock from those who have it, and returns whether somebody had.
local function free()
  if kind == SEMAPHORE then
    local away = redis.call('zcard', taken)
    if redis.call('exists', lock) == 1 then
      redis.call('incrby', lock, away)
    end
    redis.call('del', taken)
    for _, owner in ipairs(redis.call('hkeys', holders)) do
      if string.sub(owner, 1, 8) ~= 'bedrock:' then
        redis.call('hdel', holders, owner)
      end
    end
    return away > 0 and 1 or 0
  elseif kind == READWRITE then
    local fields = redis.call('hgetall', lock)
    for i = 1, #fields, 2 do
      for n = 1, math.min(tonumber(fields[i + 1]) or 0, 100) do
        redis.call('del', holdKey(lock, fields[i], n))
      end
    end
    redis.call('del', holders, beside('bedrock_upgrade:', lock), beside('bedrock_writer:', lock),
      beside('bedrock_readers:', lock), beside('bedrock_turn:', lock))
    return redis.call('del', lock)
  end
  local held = redis.call('del', lock)
  pcall(function() return queueOf(lock) and lineOf(lock).serve(ARGV[1]) end)
  return held
end

local held = free()
for _, owner in ipairs(former) do
  notify(clientOf(owner), 'taken ' .. numberOf(owner) .. ' ' .. lock)
end
return held
