-- give.lua: how a mutex becomes an owner's.

-- give writes a lock that nobody else has. It returns an error if this user may not.
local function give(lock, lease, owner, meta)
  if meta == '' then
    redis.call('hset', lock, owner, '1')
  else
    redis.call('hset', lock, owner, '1', 'bedrock:meta', meta)
  end
  local expiring = redis.pcall('pexpire', lock, lease)
  if expiring ~= 1 then
    -- A user without this permission must not leave a lock that never ends.
    redis.call('del', lock)
    return expiring
  end
end
