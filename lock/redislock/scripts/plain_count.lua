-- plain_count.lua: how many permits there are of an RSemaphore. That is a number alone: who has taken what is known of
-- ours only, in a key of Bedrock's own. The limit by which it was counted last is in bedrock:plain, beside the holders,
-- with a mark if the number is one that Bedrock has made.

-- otherLayout returns an error if permits of that name are counted as those of an RPermitExpirableSemaphore.
local function otherLayout(name, holders)
  local other = redis.call('hexists', holders, 'bedrock:limit') == 1 or hasPermits(name)
  if other and not forgetSemaphore(name) then
    return redis.error_reply('WRONGTYPE the key ' .. name .. ' is an RPermitExpirableSemaphore, by its other users')
  end
end

-- countPermits makes the number if there is none, and moves it as far as the limit has moved. What others have taken,
-- drained or added stays as it is; but ours never have more than the limit. It returns how many there are more than
-- before, and how many ours may have now.
local function countPermits(name, taken, holders, limit, now, life)
  local more, ours = comeBack(name, taken, holders, now), redis.call('zcard', taken)
  local number, by = tonumber(redis.call('get', name) or nil), redis.call('hget', holders, 'bedrock:plain')
  local before, made = string.match(by or '', '^(%d+)(.*)$')
  if not number then
    number, made = limit - ours, ' made'
    redis.call('set', name, number, 'px', life)
    redis.pcall('del', beside('bedrock_latch:', name)) -- of a latch that was opened by Redisson
  elseif before and tonumber(before) ~= limit then
    local shift = limit - tonumber(before)
    number, more = redis.call('incrby', name, shift), more + shift
  end
  redis.call('hset', holders, 'bedrock:plain', limit .. (made or ''))
  atLeast(holders, life + 60000) -- longer than the number, or the limit would not be known to have moved
  return more, math.min(number, limit - ours)
end
