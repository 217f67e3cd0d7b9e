-- semaphore.lua: what becomes of a semaphore that nobody has permits of.

-- isUnused reports whether a name is only remembered as that of a semaphore, which Bedrock has made.
local function isUnused(name)
  local holders, taken = beside('bedrock_holders:', name), tagged(name) .. ':timeout'
  local time = redis.call('time')
  local now = string.format('(%d%03d', time[1], math.floor(time[2] / 1000))
  return redis.call('hexists', holders, 'bedrock:limit') == 1 and redis.call('zcount', taken, now, '+inf') == 0
end

-- forgetSemaphore makes such a name free. It reports whether it was one.
local function forgetSemaphore(name)
  local was = isUnused(name)
  if was then
    redis.call('del', name, beside('bedrock_holders:', name), tagged(name) .. ':timeout')
  end
  return was
end
