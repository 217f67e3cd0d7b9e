-- kind.lua: what a key is. A mutex is a hash of owners; a read-write lock is one with a mode; a semaphore is a
-- number.
local MUTEX, READWRITE, SEMAPHORE = 0, 1, 2

-- kindOf returns the kind of the lock at a key, nothing if there is none; or nothing and an error if it is no lock.
local function kindOf(key)
  local found = redis.call('type', key).ok
  if found == 'none' then
    return
  elseif found == 'hash' then
    local mode = redis.call('hget', key, 'mode')
    if mode ~= 'read' and mode ~= 'write' then
      return MUTEX
    elseif redis.call('pttl', key) >= 0 then
      return READWRITE
    end
    found = 'hash that does not end'
  elseif found == 'string' and tonumber(redis.call('get', key)) then
    return SEMAPHORE
  end
  return nil, redis.error_reply('WRONGTYPE the key ' .. key .. ' is not a lock but a ' .. found)
end
