-- Describes a lock.
--
-- KEYS  1 the lock   2 its fencing counter   3 its channel, if it is a mutex
-- ARGV  1 NUMSUB or SHARDNUMSUB, or empty if it is not known which
--
-- Returns {kind, last token, listening, ms left, {who waits in line, what it has said, ...}, field, value, ...} of a
-- mutex, {kind, last token, listening, owner, how, ms left, what is known, ...} of a read-write lock, and {kind,
-- last token, listening, how many permits are there, {ID, ms when it comes back, how many are numbered on from it,
-- ...}, {owner, what is known, ...}, ms now, the limit of an RSemaphore, how many are taken besides} of a semaphore;
-- and {kind, last token, 0} of a latch.

local lock, counter = KEYS[1], KEYS[2]
local holders = beside('bedrock_holders:', lock)

local kind, wrong = kindOf(lock)
if wrong then
  return wrong
elseif kind == LATCH then
  return {LATCH, redis.call('get', counter) or '', 0} -- nobody has it
end
kind = kind or hasLostNumber(lock) and SEMAPHORE or MUTEX

-- listening counts who listens; both ways while it is not known how they do.
local function listening()
  local sum, channel = 0, KEYS[3]
  if kind ~= MUTEX then
    channel = (kind == READWRITE and 'redisson_rwlock:' or 'redisson_sc:') .. tagged(lock)
  end
  for _, count in ipairs(ARGV[1] ~= '' and {ARGV[1]} or {'SHARDNUMSUB', 'NUMSUB'}) do
    sum = sum + (redis.pcall('pubsub', count, channel)[2] or 0)
  end
  return sum
end

local answer = {kind, redis.call('get', counter) or '', listening()}

-- waiting returns who waits for a fair lock, and what those of ours have said, but for those who have gone.
local function waiting()
  local found, time = {}, redis.call('time')
  for _, owner in ipairs(queueOf(lock) and redis.pcall('lrange', queueOf(lock), 0, 999) or {}) do
    local record = redis.pcall('hget', beside('bedrock_line:', lock), owner)
    local ends = type(record) == 'string' and tonumber(string.match(record, '^%d+ (%d+) '))
    if not ends or ends > tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000 then
      found[#found + 1] = owner
      found[#found + 1] = ends and record or ''
    end
  end
  return found
end

if kind == MUTEX then
  answer[4] = redis.call('pttl', lock)
  answer[5] = waiting()
  if redis.call('hlen', lock) <= 64 then
    for _, text in ipairs(redis.call('hgetall', lock)) do
      answer[#answer + 1] = text
    end
  end
  return answer
end

local function add(owner, how, left)
  for _, text in ipairs({owner, how, left, redis.call('hget', holders, owner) or ''}) do
    answer[#answer + 1] = text
  end
end

if kind == READWRITE then
  local fields, writes, life = redis.call('hgetall', lock), writerOf(lock)
  if writes and life > 0 then
    add(writes, 'write', life)
  end
  local upgradeable = redis.call('get', beside('bedrock_upgrade:', lock))
  for i = 1, math.min(#fields, 2000), 2 do
    local owner = fields[i]
    local left = owner ~= 'mode' and string.sub(owner, -6) ~= ':write' and lifeOf(lock, owner, fields[i + 1]) or 0
    if left > 0 then
      add(owner, owner == upgradeable and 'upgradeable' or 'read', left)
    end
  end
  return answer
end

local now, taken = nowMs(), takenOf(lock)
local limit = string.match(redis.call('hget', holders, 'bedrock:plain') or '', '^%d+')
local over, all = redis.call('zcount', taken, '-inf', now), redis.call('zcard', taken)

-- idAt returns the ID at a rank: those that come back at the same time follow each other.
local function idAt(rank) return redis.call('zrange', taken, rank, rank)[1] end

-- countFrom returns how many permits are numbered on from the one at a rank, which there may be very many of: it looks
-- at few of them.
local function countFrom(rank, id)
  local prefix = string.sub(id, 1, -5)
  if id ~= idOf(prefix, 1) then
    return 1
  end
  local function has(n) return idAt(rank + n - 1) == idOf(prefix, n) end
  local least, most = 1, 2
  while has(most) do
    least, most = most, 2 * most
  end
  while most - least > 1 do
    local middle = math.floor((least + most) / 2)
    if has(middle) then least = middle else most = middle end
  end
  return least
end

-- Of the IDs that say whose they are it tells so many, and counts the others.
local told, rank = {}, over
while rank < all and #told < 3 * 2000 do
  local id, ends = unpack(redis.call('zrange', taken, rank, rank, 'withscores'))
  local count = countFrom(rank, id)
  told[#told + 1], told[#told + 2], told[#told + 3] = id, ends, count
  rank = rank + count
end

-- Where the number is gone, the next request makes it from the limit.
local number = redis.call('get', lock)
answer[4] = over + (number and (tonumber(number) or 0)
  or (limit or redis.call('hget', holders, 'bedrock:limit') or 0) - all)
answer[5] = told
answer[6] = redis.call('hlen', holders) <= 2000 and redis.call('hgetall', holders) or {}
answer[7], answer[8], answer[9] = now, limit or '', all - rank
return answer
