-- kind.lua: what a key is. A mutex is a hash of owners; a read-write lock is one with a mode; a semaphore is a
-- number; and so is a latch. One that Bedrock has made has a mark beside it. Redisson leaves that when it opens the
-- latch: what has permits that are taken is Redisson's semaphore, which has come later. Who deletes the number of an
-- RSemaphore deletes no permits of ours, which keep others out all the same: that is told where NUMBERLESS is true.
local MUTEX, READWRITE, SEMAPHORE, LATCH = 0, 1, 2, 3

-- hasPermits reports whether permits of a semaphore are taken. Those beside the name "{x}" are of "x".
local function hasPermits(key)
  return not string.find(key, '^{[^{]*}$') and redis.pcall('exists', tagged(key) .. ':timeout') == 1
end

-- hasOwnersOnly reports whether a hash with a mode is a read-write lock beyond doubt: all else in it are owners, as
-- this library and Redisson make them, and how often each has it. Then it has lost its end, to PERSIST or the like.
local function hasOwnersOnly(key)
  local hex = string.rep('%x', 4)
  local isOwner = '^' .. hex .. string.rep(hex .. '%-', 4) .. hex .. hex .. hex .. ':%d+$'
  local size = redis.call('hlen', key)
  local fields = size > 1 and size <= 1000 and redis.pcall('hgetall', key) or {}
  for i = 1, #fields, 2 do
    local owner = string.gsub(fields[i], ':write$', '')
    if fields[i] ~= 'mode' and not (string.find(owner, isOwner) and string.find(fields[i + 1], '^%d+$')) then
      return false
    end
  end
  return #fields > 0
end

-- kindOf returns the kind of the lock at a key, nothing if there is none; or nothing and an error if it is no lock, nor
-- what else is wanted there.
local function kindOf(key, wanted)
  local found = redis.call('type', key).ok
  if found == 'none' then
    return NUMBERLESS and redis.pcall('exists', beside('bedrock_permits:', key)) == 1 and SEMAPHORE or nil
  elseif found == 'hash' then
    local mode = redis.call('hget', key, 'mode')
    if mode ~= 'read' and mode ~= 'write' then
      return MUTEX
    elseif redis.call('pttl', key) >= 0 or hasOwnersOnly(key) then
      return READWRITE
    end
    found = 'hash that does not end'
  elseif found == 'string' and tonumber(redis.call('get', key)) then
    -- A user who may not see a mark has no latches.
    local marked = redis.pcall('exists', beside('bedrock_latch:', key)) == 1
    return marked and not hasPermits(key) and LATCH or SEMAPHORE
  end
  return nil, redis.error_reply('WRONGTYPE the key ' .. key .. ' is not a ' .. (wanted or 'lock') .. ' but a ' .. found)
end
