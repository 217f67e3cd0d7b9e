-- Gives permits back.
--
-- KEYS  1 the semaphore   2 its channel   3 the latch of this owner   4 the permits that are taken   5 what is known
--       of its holders
-- ARGV  1 PUBLISH or SPUBLISH, or empty if it is not known which   2 owner   3 life of the latch in ms   4 how many
--       permits   5 how the IDs begin   6 life of the semaphore in ms
--
-- Returns how many listen for the release; or -1 when the owner does not have them.

local call = redis.call
local name, channel, latch, taken, holders = unpack(KEYS)
local owner, count, prefix = ARGV[2], tonumber(ARGV[4]), ARGV[5]

-- gone answers where the owner has nothing: it has given it back a moment ago, or never had it. A latch alone does not
-- say so: a copy of the request that was late may have been granted since.
local function gone()
  return call('exists', latch) == 1 and 0 or -1
end

local kind = redis.pcall('type', taken)
if kind.err then
  return kind
elseif kind.ok ~= 'zset' then
  return gone()
end
local now = nowMs()
local complete, away = has(taken, prefix, count, now), 0
for i = 1, count do
  away = away + (call('zscore', taken, idOf(prefix, i)) and 1 or 0)
end
if away == 0 then
  return gone()
end
-- Publishing goes first: if this user may not, nothing has happened. If the number is gone, what has come in its place
-- is not ours.
local woken, number = away, countOf(name)
if isPlain(taken) then
  woken = math.max((number or 0) + away, 1) -- Redisson tells the number
end
local listening = tell(channel, string.format('%.0f', woken))
for i = 1, count do
  call('zrem', taken, idOf(prefix, i))
end
if number then
  call('incrby', name, away)
end
call('hdel', holders, owner)
keep(name, taken, holders, tonumber(ARGV[6]))
local over = isPlain(taken) and comeBack(name, taken, holders, now) or 0
if over > 0 then
  hintOf(ARGV[1], channel, over)
end
if not complete then
  return -1 -- they came back before
end
call('psetex', latch, ARGV[3], '1')
return listening
