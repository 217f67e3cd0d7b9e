-- rw.lua: Redisson's read-write lock, a hash: mode is read or write; each reader is a field with how often it has
-- the lock, and the writer one that ends in :write. Every hold of a reader has a key of its own, for as long as its
-- lease lasts.

-- What has lost its end lives for so long, in ms, where there must be one.
local ENDLESS = 3000000000000

-- lifeOfLock returns how long the lock lives. Who knows of no other end has it for as long.
local function lifeOfLock(lock)
  local left = redis.call('pttl', lock)
  return left == -1 and ENDLESS or left
end

-- holdKey returns the key of a reader's hold.
local function holdKey(lock, owner, i)
  return tagged(lock) .. ':' .. owner .. ':rwlock_timeout:' .. i
end

-- lifeOf returns how long a reader's last hold lives, 0 or less if it is dead.
local function lifeOf(lock, owner, count)
  local left = 0
  for i = 1, math.min(tonumber(count) or 0, 100) do
    left = math.max(left, redis.call('pttl', holdKey(lock, owner, i)))
  end
  return left
end

-- isOwner reports whether that is an owner, as this library and Redisson make them or as it is known beside the
-- lock. What else is in a hash is not ours to take out.
local function isOwner(field, holders)
  return string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%d') or redis.call('hexists', holders, field) == 1
end

-- lookAt returns how long a reader lives, 0 or less if that is none. A dead one is taken out.
local function lookAt(lock, holders, owner, count)
  if owner == 'mode' or string.sub(owner, -6) == ':write' then
    return 0
  end
  local left = lifeOf(lock, owner, count)
  if left <= 0 and not isOwner(owner, holders) then
    left = lifeOfLock(lock)
  end
  if left <= 0 then
    redis.call('hdel', lock, owner)
    redis.call('hdel', holders, owner)
  end
  return left
end

-- readers returns how long the last of the living readers has, which one that is, and how many they are, without
-- one of them. The dead are taken out.
local function readers(lock, holders, without)
  local longest, who, living = 0, '', 0
  local fields = redis.call('hgetall', lock)
  for i = 1, #fields, 2 do
    local left = fields[i] ~= without and lookAt(lock, holders, fields[i], fields[i + 1]) or 0
    if left > 0 then
      living = living + 1
    end
    if left > longest then
      longest, who = left, fields[i]
    end
  end
  return longest, who, living
end

-- lookAtSome takes dead readers out as they are met: there may be no writer who looks at all.
local function lookAtSome(lock, holders)
  local fields = redis.call('hrandfield', lock, 16, 'withvalues')
  for i = 1, #fields, 2 do
    lookAt(lock, holders, fields[i], fields[i + 1])
  end
end

-- writerOf returns who has the lock to write, empty if that is unknown, and for how long; nothing if nobody does. Over
-- a reader, or under one, of another owner the writer has a life of its own: else the lock's is the writer's.
local function writerOf(lock)
  if redis.pcall('hget', lock, 'mode') ~= 'write' then
    return
  end
  local owner, others = '', {}
  for _, field in ipairs(redis.call('hkeys', lock)) do
    if string.sub(field, -6) == ':write' then
      owner = string.sub(field, 1, -7)
    elseif field ~= 'mode' then
      others[field] = true
    end
  end
  local life = redis.call('pttl', holdKey(lock, owner .. ':write', 1))
  if life <= 0 and (owner == '' or not next(others) or others[owner]) then
    return owner, lifeOfLock(lock)
  end
  return owner, life
end

-- writer is writerOf of a writer who lives. A dead one is taken out, and those remain who read.
local function writer(lock, holders)
  local owner, left = writerOf(lock)
  if owner and left <= 0 and not isOwner(owner, holders) then
    return owner, lifeOfLock(lock)
  elseif owner and left <= 0 then
    redis.call('hdel', lock, owner .. ':write')
    redis.call('hdel', holders, owner)
    redis.call('hset', lock, 'mode', 'read')
    return
  end
  return owner, left
end

-- hasBecomeReader reports whether the owner of a grant to write reads by it: see rw_downgrade.lua.
local function hasBecomeReader(lock, owner)
  return redis.pcall('hexists', lock, owner) == 1 and redis.call('exists', holdKey(lock, owner, 1)) == 1
end

-- hasHold reports whether the owner has the lock, to write or to read: its own hold lives.
local function hasHold(lock, hold, holders, owner, writes)
  local has = writer(lock, holders)
  if writes then
    return has == owner
  end
  return redis.call('hexists', lock, owner) == 1 and redis.call('exists', hold) == 1
end
