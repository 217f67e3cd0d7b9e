-- rw.lua: Redisson's read-write lock, a hash: mode is read or write; each reader is a field with how often it has
-- the lock, and the writer one that ends in :write. Every hold of a reader has a key of its own, for as long as its
-- lease lasts.

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

-- readers returns how long the last of the living readers has, which one that is, and how many they are, without
-- one of them. The dead are taken out.
local function readers(lock, without)
  local longest, who, living = 0, '', 0
  local fields = redis.call('hgetall', lock)
  for i = 1, #fields, 2 do
    local owner = fields[i]
    if owner ~= 'mode' and string.sub(owner, -6) ~= ':write' and owner ~= without then
      local left = lifeOf(lock, owner, fields[i + 1])
      if left > 0 then
        living = living + 1
      else
        redis.call('hdel', lock, owner)
      end
      if left > longest then
        longest, who = left, owner
      end
    end
  end
  return longest, who, living
end

-- writer returns who has the lock to write; nothing if nobody does.
local function writer(lock)
  if redis.call('hget', lock, 'mode') ~= 'write' then
    return
  end
  for _, field in ipairs(redis.call('hkeys', lock)) do
    if string.sub(field, -6) == ':write' then
      return string.sub(field, 1, -7)
    end
  end
  return ''
end

-- What is in place of an owner while it is the turn of readers: see release.
local OFREADERS = '-'
