-- permit.lua: Redisson's semaphore with leases: a number, of the permits that are there, and a sorted set of
-- those that are not, with when they come back. Each has an ID of 16 bytes: those of one owner begin alike, and
-- end with a number from 1 on. Of an RSemaphore there is the number alone, and the set is Bedrock's own.

local function nowMs()
  local time = redis.call('time')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- idOf returns the ID of one of an owner's permits.
local function idOf(prefix, i) return prefix .. struct.pack('>I4', i) end

-- prefixOf returns how the IDs of an owner begin, by what is known of it; nothing of what is no record.
local function prefixOf(record)
  local ids = string.match(record, '^%d+ %d+ (%x+)')
  return ids and (string.gsub(ids, '..', function(hex) return string.char(tonumber(hex, 16)) end))
end

-- forgetDead forgets the holders who have no permits any more.
local function forgetDead(holders, taken)
  local known = redis.call('hgetall', holders)
  for i = 1, math.min(#known, 2000), 2 do
    local prefix = prefixOf(known[i + 1])
    if prefix and not redis.call('zscore', taken, idOf(prefix, 1)) then
      redis.call('hdel', holders, known[i])
    end
  end
end

-- isPlain reports whether those are permits of an RSemaphore.
local function isPlain(taken) return string.find(taken, 'bedrock_permits:', 1, true) == 1 end

-- countOf returns how many permits are there, by the semaphore's number; nothing if there is none.
local function countOf(name)
  local number = redis.pcall('get', name)
  if type(number) == 'table' and not string.find(number.err, 'WRONGTYPE') then
    error(number)
  end
  return tonumber(number or nil)
end

-- comeBack adds those of our permits of an RSemaphore to its number whose time is over: nobody else does. It returns
-- how many they are.
local function comeBack(name, taken, holders, now)
  local over = redis.call('zcount', taken, '-inf', now)
  if over > 0 then
    local number = countOf(name) -- before anything is changed: whatever is there may not be one
    redis.call('zremrangebyscore', taken, '-inf', now)
    forgetDead(holders, taken)
    if number then
      redis.call('incrby', name, over)
    end
  end
  return over
end

-- has reports whether the owner has its permits: all of them, and none is over.
local function has(taken, prefix, count, now)
  for i = 1, count do
    local ends = redis.call('zscore', taken, idOf(prefix, i))
    if not ends or tonumber(ends) <= now then
      return false
    end
  end
  return true
end

-- setEnds makes the owner's permits come back at that time.
local function setEnds(taken, prefix, count, at)
  for i = 1, count do
    redis.call('zadd', taken, string.format('%.0f', at), idOf(prefix, i))
  end
end

-- A time in ms that does not end in practice. PERSIST is one more command to be allowed.
local FOREVER = 3000000000000

-- keep has the semaphore live for so long at least, and its permits as long as it does: somebody may have it live for
-- ever that had an end before. What is known of its holders, and that it is ours, is kept for longer: else the limit
-- would not be known to have moved. If the number is gone, whatever has come in its place is not ours.
local function keep(name, taken, holders, life)
  local left = countOf(name) and redis.call('pttl', name)
  if not left then
    atLeast(taken, life)
  elseif left == -1 and redis.call('pttl', taken) >= 0 then
    redis.call('pexpire', taken, FOREVER)
  elseif left >= 0 then
    if left < life then
      redis.call('pexpire', name, life)
    end
    redis.call('pexpire', taken, math.max(left, life))
  end
  atLeast(holders, life + 60000)
end

-- prefixText is how an owner's IDs begin, for people.
local function prefixText(prefix)
  return (string.gsub(prefix, '.', function(c) return string.format('%02x', string.byte(c)) end))
end

-- hintOf wakes as many as there are permits. A user who may not publish must not lose them by it.
local function hintOf(verb, channel, count)
  for _, publish in ipairs(verb ~= '' and {verb} or {'spublish', 'publish'}) do
    redis.pcall(publish, channel, string.format('%.0f', count))
  end
end
