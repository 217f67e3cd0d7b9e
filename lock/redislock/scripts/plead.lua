-- Asks all who have a lock to give it back, if they are clients of Bedrock; it changes nothing.
--
-- KEYS  1 the lock
-- ARGV  1 within what time, in ms, 0 for as soon as can be   2 the reason   3 1 in a cluster, else 0
--
-- Returns how many of them can have been told. One server counts who listens for it; one of a cluster counts only who
-- listens there, while a message goes to all of them: then everybody counts who has the lock by Bedrock.

local lock = KEYS[1]
local kind, wrong = kindOf(lock)
kind = kind or not wrong and hasLostNumber(lock) and SEMAPHORE
if wrong then
  return wrong
elseif not kind or kind == LATCH then
  return 0 -- nobody has it
end

local taken = kind == SEMAPHORE and takenOf(lock)

-- lives reports whether the lease of an owner goes on: the dead are there until somebody looks.
local function lives(owner)
  if kind == READWRITE then
    local writes, life = writerOf(lock)
    return writes and writes .. ':write' == owner and life > 0
      or lifeOf(lock, owner, redis.call('hget', lock, owner)) > 0
  elseif kind == SEMAPHORE then
    local record = redis.call('hget', beside('bedrock_holders:', lock), owner)
    local prefix = prefixOf(record)
    return prefix and has(taken, prefix, 1, nowMs())
  end
  return true
end

-- isOurs reports whether an owner has left what Bedrock knows of owners.
local function isOurs(owner)
  if kind == MUTEX then
    return redis.call('hexists', lock, 'bedrock:meta') == 1
  end
  return redis.call('hexists', beside('bedrock_holders:', lock), (string.gsub(owner, ':write$', ''))) == 1
end

local told, asked = 0, {}
for _, field in ipairs(ownersOf(lock, kind)) do
  local client, number = clientOf(field), numberOf(field)
  if not asked[client .. number] and lives(field) then
    local listening = notify(client, 'asked ' .. number .. ' ' .. ARGV[1] .. ' ' .. #ARGV[2] .. ' ' .. ARGV[2] .. lock)
    if type(listening) == 'table' then
      return listening
    end
    asked[client .. number] = true
    told = told + ((listening > 0 or ARGV[3] == '1' and isOurs(field)) and 1 or 0)
  end
end
return told
