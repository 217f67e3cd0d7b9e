-- semaphore.lua: what becomes of a semaphore that nobody has permits of.

-- forgetSemaphore makes a name free that is only remembered as that of a semaphore, which Bedrock has made. It
-- reports whether it was.
local function forgetSemaphore(name)
  local holders, taken = beside('bedrock_holders:', name), tagged(name) .. ':timeout'
  local time = redis.call('time')
  local now = string.format('(%d%03d', time[1], math.floor(time[2] / 1000))
  if redis.call('hexists', holders, 'bedrock:limit') == 0 or redis.call('zcount', taken, now, '+inf') > 0 then
    return false
  end
  redis.call('del', name, holders, taken)
  return true
end
