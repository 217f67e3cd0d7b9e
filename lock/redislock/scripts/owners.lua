-- owners.lua: who has a lock, of those whom Bedrock can tell something.

-- ownersOf returns who seems to have a lock of a kind. A writer's field ends in :write.
local function ownersOf(lock, kind)
  local found = {}
  local from = kind == SEMAPHORE and beside('bedrock_holders:', lock) or lock
  if kind and redis.call('hlen', from) <= 2000 then
    for _, field in ipairs(redis.call('hkeys', from)) do
      if string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%d') then
        found[#found + 1] = field
      end
    end
  end
  return found
end

-- numberOf returns what is an owner's own, behind its client.
local function numberOf(owner) return string.match(owner, ':(%d+)') end
