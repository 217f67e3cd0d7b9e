-- crowd.lua: names that several may have at once. What is known of those who have one lies beside the lock, in
-- a hash: of each owner the first token, how many there are, its metadata; Redisson's own keys have no room for
-- that.

-- record writes what is known of an owner.
local function record(holders, owner, first, given, rest, life)
  redis.call('hset', holders, owner, string.format('%.0f', first) .. ' ' .. given .. ' ' .. rest)
  if redis.call('pttl', holders) < tonumber(life) then
    redis.call('pexpire', holders, life)
  end
end

-- recorded returns the first token of an owner, and how many there are. What was lost is told by the counter.
local function recorded(holders, counter, owner)
  local first, given = string.match(redis.call('hget', holders, owner) or '', '^(%d+) (%d+) ')
  if first then
    return tonumber(first), tonumber(given)
  end
  return tonumber(redis.call('get', counter) or 1) or 1, 1
end

-- atLeast prolongs the life of a key, and never shortens it.
local function atLeast(key, life)
  if redis.call('pttl', key) < tonumber(life) then
    return redis.pcall('pexpire', key, life)
  end
  return 1
end
