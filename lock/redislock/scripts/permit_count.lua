-- permit_count.lua: how many permits there are of an RPermitExpirableSemaphore, which knows of each one that is taken.

-- otherLayout returns an error if permits of that name are counted as those of an RSemaphore.
local function otherLayout(name, holders)
  if redis.call('hexists', holders, 'bedrock:plain') == 1 and not forgetSemaphore(name) then
    return redis.error_reply('WRONGTYPE the key ' .. name .. ' is an RSemaphore, by its other users')
  end
end

-- countPermits has as many permits in all as the caller says: those that are taken, without those whose time is over,
-- and the rest. It returns how many there are more than before, and how many there are.
local function countPermits(name, taken, holders, limit, now, life)
  if redis.call('zremrangebyscore', taken, '-inf', now) > 0 then
    forgetDead(holders, taken)
  end
  local before, there = tonumber(redis.call('get', name) or nil), limit - redis.call('zcard', taken)
  if not before then
    redis.call('set', name, there, 'px', life)
    redis.pcall('del', beside('bedrock_latch:', name)) -- of a latch that was opened by Redisson
    redis.call('hset', holders, 'bedrock:limit', limit) -- it is ours
    redis.call('pexpire', holders, life)
    return 0, there
  end
  if there ~= before then
    redis.call('incrby', name, there - before)
  end
  return there - before, there
end
