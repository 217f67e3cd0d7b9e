-- tell wakes who listens, and returns how many they are. While it is not known how
-- they listen, it is done both ways.
local function tell(channel, text)
  if ARGV[1] ~= '' then
    return redis.call(ARGV[1], channel, text)
  end
  local sharded, classic = redis.pcall('spublish', channel, text), redis.pcall('publish', channel, text)
  if not tonumber(sharded) and not tonumber(classic) then
    error(classic)
  end
  return (tonumber(sharded) or 0) + (tonumber(classic) or 0)
end

-- tellAll wakes all who wait for a read-write lock. By 1 Redisson wakes those who sleep, and misses who is about to:
-- 00, which is 0 to it, wakes one of those in each process. To Bedrock it says nothing new.
local function tellAll(channel)
  local listening = tell(channel, '1')
  tell(channel, '00')
  return listening
end
