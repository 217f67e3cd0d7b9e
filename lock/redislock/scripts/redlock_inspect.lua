-- Describes a lock.
--
-- KEYS, ARGV and the result are those of inspect.lua; the owner is told as the
-- only field.

-- listening counts who listens; both ways while it is not known how they do.
local function listening()
  local sum = 0
  for _, count in ipairs(ARGV[1] ~= '' and {ARGV[1]} or {'SHARDNUMSUB', 'NUMSUB'}) do
    sum = sum + (redis.pcall('pubsub', count, KEYS[3])[2] or 0)
  end
  return sum
end

local holder = redis.call('get', KEYS[1])
local answer = {0, redis.call('get', KEYS[2]) or '', listening(), redis.call('pttl', KEYS[1]), {}}
if holder then
  answer[6], answer[7] = holder, '1'
end
return answer
