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
