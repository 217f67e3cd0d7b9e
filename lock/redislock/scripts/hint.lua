-- hint wakes who listens. While it is not known how they listen, it is done both
-- ways. A user who may not publish must not lose the lock by it.
local function hint(channel)
  if ARGV[1] ~= '' then
    redis.pcall(ARGV[1], channel, '0')
    return
  end
  redis.pcall('spublish', channel, '0')
  redis.pcall('publish', channel, '0')
end
