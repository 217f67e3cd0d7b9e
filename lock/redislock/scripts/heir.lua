-- A lock that Bedrock holds may have heirs: waiters of other processes, in line. The line
-- is a field of the lock, "client:owner:request " of each, the last two by their numbers; what
-- each of them would have is a finished lock in a key of its own, beside it, for as long as its
-- claim lasts. An empty one says that somebody stands in the line of fair locks: see line.lua.

local HEIRS = 'bedrock:heirs'

-- clientOf returns the part of an owner that names its client, here and in channels.
local function clientOf(owner)
  return string.sub(owner, 1, 18)
end

-- heirKey returns where a client's claim to a lock lies, by the rules for the keys beside it.
local function heirKey(lock, client)
  if string.find(lock, '{', 1, true) then
    return 'bedrock_heir:' .. lock .. ':' .. client .. ':tagged'
  end
  return 'bedrock_heir:{' .. lock .. '}:' .. client
end

-- notify tells a client something, on its own channel. It returns how many have heard it, or an error.
--
-- The message is not for replicas: who listens there is not counted here, and would take for granted what
-- was given to the next one.
local function notify(client, text)
  redis.set_repl(redis.REPL_NONE)
  local told = redis.pcall('publish', 'bedrock_client:' .. client, text)
  redis.set_repl(redis.REPL_ALL)
  return told
end
