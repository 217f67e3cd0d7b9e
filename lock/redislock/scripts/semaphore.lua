-- semaphore.lua: what becomes of a semaphore that nobody has permits of.

-- isNumberless reports whether permits of ours are there of an RSemaphore whose number is gone.
local function isNumberless(name)
  return redis.call('exists', name) == 0 and redis.pcall('exists', beside('bedrock_permits:', name)) == 1
end

-- takenOf returns where the permits are that are taken: of an RSemaphore that is known for ours, in a key of our own.
local function takenOf(name)
  if redis.call('hexists', beside('bedrock_holders:', name), 'bedrock:plain') == 1 or isNumberless(name) then
    return beside('bedrock_permits:', name)
  end
  return tagged(name) .. ':timeout'
end

-- hasLostNumber reports whether permits are taken of a semaphore of ours whose number somebody has deleted: the next
-- request makes that anew, and counts them. A user who may not look has none.
local function hasLostNumber(name)
  if string.find(name, '^{[^{]*}$') or redis.pcall('exists', beside('bedrock_holders:', name)) ~= 1 then
    return false -- see hasPermits; and a set like that may be anybody's
  end
  local many = redis.pcall('zcard', tagged(name) .. ':timeout')
  return type(many) == 'number' and many > 0
end

-- isUnused reports whether a name is only remembered as that of a semaphore, which Bedrock has made.
local function isUnused(name)
  local holders, taken = beside('bedrock_holders:', name), takenOf(name)
  local time = redis.call('time')
  local now = string.format('(%d%03d', time[1], math.floor(time[2] / 1000))
  if redis.call('zcount', taken, now, '+inf') > 0 then
    return false
  end
  local there = tonumber(redis.call('get', name) or nil)
  local plain = redis.call('hget', holders, 'bedrock:plain')
  local limit = tonumber(string.match(plain or '', '^(%d+) made$'))
  if not there then
    return true
  elseif not plain then
    return redis.call('hexists', holders, 'bedrock:limit') == 1
  end
  -- Others may have permits of an RSemaphore, or may have made it.
  return limit ~= nil and redis.call('pttl', name) ~= -1 and there + redis.call('zcard', taken) == limit
end

-- forgetSemaphore makes such a name free. It reports whether it was one.
local function forgetSemaphore(name)
  local was = isUnused(name)
  if was then
    redis.call('del', name, takenOf(name), beside('bedrock_holders:', name))
  end
  return was
end
