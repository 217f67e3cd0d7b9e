-- Gives locks back: one, or all that goroutines of one process release at the
-- same moment. One that has heirs is passed on to the first of them.
--
-- KEYS  of each lock: the lock, its channel, this client's latch for it
-- ARGV  PUBLISH or SPUBLISH, or empty if it is not known which; then of each lock: its owner; the
--       life of the latch in ms, or empty if that is what is left of the lock's; and how it was had:
--       empty if it was asked for, else "times age others listening long", how often in a row it was
--       passed on and for how many µs, how many others were in line at most, how many of this client's
--       connections listen for its release, less the clients beside it that listen by them, and 1 if it
--       was held for longer than a claim may have lived
--
-- Returns an answer; or, of several locks, the answers. An answer is how many
-- listen for the release, or 0 when somebody has the lock by it; or {how many listen, text...} when it was
-- for those who stand in no line; or -1 when the owner has no lock; or an error, {-1, text}.

local call = redis.call

-- The most that a lock is passed on while others may wait for it: clients that listen but stand in no
-- line, and those that only look now and then, of whom nobody knows. Then it is released for them, by a
-- text of its own: who stands in line gives them time.
local MOST, LONGEST = 32, 100000

-- latchShut reports whether an earlier copy of this very request has done it. The latch is the
-- lock of then, or just its owner.
local function latchShut(latch, owner)
  local has = redis.pcall('get', latch)
  if type(has) == 'table' then
    has = call('hget', latch, owner) == '1' and owner
  end
  return has == owner
end

-- hasLine reports whether somebody stands in line for the lock, to have it in order. Those go first.
local function hasLine(lock)
  local queue = queueOf(lock)
  return queue and redis.pcall('exists', queue) == 1
end

-- serveLine gives a free lock to who is next in line. A user who may not do that has released it all the same.
local function serveLine(lock)
  pcall(function() lineOf(lock).serve(ARGV[1]) end)
end

-- withdraw takes the claim of somebody back who stands in line.
local function withdraw(lock, owner)
  local may, was = pcall(function() return hasLine(lock) and lineOf(lock).withdraw(owner) end)
  if may and was then
    if call('exists', lock) == 0 then
      serveLine(lock)
    end
    return
  end
  local key = heirKey(lock, clientOf(owner))
  if redis.pcall('hget', key, owner) == '1' then -- HEXISTS is what others are known by, see looks
    call('del', key)
  end
end

-- shut makes the latch, and the lock free.
local function shut(lock, latch, owner, life)
  if life == '' and not redis.pcall('rename', lock, latch).err then
    return
  end
  call('del', lock)
  redis.pcall('psetex', latch, life == '' and '10000' or life, owner)
end

-- strangers returns how many listen for the release who have not stood in line: one that is not there may
-- be about to come.
local function strangers(channel, others, own)
  local listening = redis.pcall('pubsub', 'numsub', channel)[2] or 0
  return listening - others - own
end

-- looks tells how often somebody has looked at a lock of this server, as a text that is no turn: Redisson's spin
-- lock leaves no other trace. A user who may not know that lets those who look find it free by luck.
local function looks()
  local stats = redis.pcall('info', 'commandstats')
  return type(stats) == 'string' and 2 + (string.match(stats, 'cmdstat_hexists:calls=(%d+)') or 0) or 2
end

-- inherit passes the lock on to an heir, if it is their turn. It returns whether it has, what to say to
-- others whose turn it is, and whether the lock is free by now.
local function inherit(lock, channel, latch, owner, heirs, how)
  local times, age, others, own, long = string.match(how, '^(%d+) (%d+) (%d+) (-?%d+) (%d)$')
  times, age = tonumber(times or 0), age or '0'
  local _, standing = string.gsub(heirs, ' ', ' ')
  others = math.max(tonumber(others or 0), standing)
  local over = tonumber(age) >= LONGEST
  if times >= MOST or over then
    if strangers(channel, others, tonumber(own)) > 0 then
      return false, {0, string.format('%.0f', -looks()), '1'}
    elseif over then
      return false, {0, string.format('%.0f', looks())}
    end
    times = 0
  end
  local passed, free = pass(lock, heirs, times + 1, age, others)
  if not passed then
    return false, nil, free
  end
  redis.pcall('psetex', latch, '10000', owner)
  if long ~= '0' then -- who sleeps was told of a longer life
    tell(channel, '0')
  end
  return true
end

-- announce tells of a release, and whose turn it is if not everybody's. It returns the answer that says so.
local function announce(channel, turn)
  if not turn then
    return tell(channel, '0')
  end
  turn[1] = tell(channel, turn[2])
  if turn[3] then
    tell(channel, turn[3])
  end
  return turn
end

-- hasLock returns what is in the owner's field, and the lock's heirs. A user who may not ask for
-- several fields at once passes no lock on.
local function hasLock(lock, owner)
  local has = redis.pcall('hmget', lock, owner, HEIRS)
  if has.err then
    local one = redis.pcall('hget', lock, owner)
    if type(one) == 'table' and not string.find(one.err, 'WRONGTYPE') then
      error(one)
    end
    has = {one}
  end
  return has
end

local function give(lock, channel, latch, owner, life, how)
  local has = hasLock(lock, owner)
  if has[1] ~= '1' then
    if latchShut(latch, owner) then
      return 0
    end
    withdraw(lock, owner)
    return -1
  end
  local turn, free
  local line = has[2] and hasLine(lock)
  if has[2] and has[2] ~= '' and not line then
    local passed
    passed, turn, free = inherit(lock, channel, latch, owner, has[2], how)
    if passed then
      return 0
    end
  end
  -- Publishing goes first: if this user may not, nothing has happened; unless that was found out by
  -- passing the lock on. Listeners hear of it only after the script.
  local told, answer = pcall(announce, channel, turn)
  if not told then
    if not free then
      error(answer)
    end
    answer = 0
  end
  shut(lock, latch, owner, life)
  if line then
    serveLine(lock)
  end
  return answer
end

if #KEYS == 3 then
  return give(KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3], ARGV[4])
end

local answers = {}
for i = 1, #KEYS / 3 do
  -- One that fails must not hide what became of the others.
  local ok, answer = pcall(give, KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i],
    ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1])
  if not ok then
    answer = {-1, type(answer) == 'table' and answer.err or answer}
  end
  answers[i] = answer
end
return answers
