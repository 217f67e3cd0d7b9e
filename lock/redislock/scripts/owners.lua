-- owners.lua: who has a lock, of those whom Bedrock can tell something.

-- fieldsOf returns the fields of a hash: 2000 of more, and two besides, as there may be two that are no owner's. The
-- server does nothing else while it tells so many.
local function fieldsOf(hash)
  if redis.call('hlen', hash) <= 2000 then
    return redis.call('hkeys', hash)
  end
  return redis.call('hrandfield', hash, 2002)
end

-- ownersOf returns who seems to have a lock of a kind, or some of very many. A writer's field ends in :write.
local function ownersOf(lock, kind)
  local found = {}
  local from = kind == SEMAPHORE and beside('bedrock_holders:', lock) or lock
  for _, field in ipairs(kind and fieldsOf(from) or {}) do
    if string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%d') then
      found[#found + 1] = field
    end
  end
  return found
end

-- numberOf returns what is an owner's own, behind its client.
local function numberOf(owner) return string.match(owner, ':(%d+)') end
