-- Takes a fair lock: a mutex in Redisson's layout, which goes to who is next in its line.
--
-- KEYS  1 the lock   2 its fencing counter
-- ARGV  1 life of the counter in ms, 0 for ever   2 lease in ms   3 owner   4 how many tokens   5 metadata   6 how it
--       is told that the lock is its own, see line.lua, or empty if it does not wait   7 its claim in ms
--       8 PUBLISH or SPUBLISH, or empty if it is not known which
--
-- Returns {1, the first token, how many}, and 1 if the owner has had it already; or, when it is not its turn, {0, ms
-- left, who has it or goes first, 1 if that one only waits, its own place or 0, the newest token, 1 if its turn may be
-- told on its channel alone}; or {3, kind} of another kind.

local lock, counter = KEYS[1], KEYS[2]
local life, lease, owner, meta, how, claim, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

local kind, wrong = kindOf(lock)
if wrong then
  return wrong
elseif kind == SEMAPHORE and forgetSemaphore(lock) then
  kind = nil
elseif kind and kind ~= MUTEX then
  return {3, kind}
end

local line = lineOf(lock)

-- newest returns the newest token given out.
local function newest() return tonumber(call('get', counter) or 0) or 0 end

-- holder returns who has the lock, and whether that is one of another library's.
local function holder()
  local fields = call('hlen', lock) <= 16 and call('hkeys', lock) or {}
  local who, others = '', true
  for _, field in ipairs(fields) do
    if field == 'bedrock:meta' then
      others = false
    elseif who == '' and string.sub(field, 1, 8) ~= 'bedrock:' then
      who = field
    end
  end
  return who, others
end

-- recall tells who has a lock that may linger that somebody else wants it.
local function recall()
  local client, number = string.match(call('hget', lock, 'bedrock:linger') or '', '^([^ :]+):(%d+) ')
  if client then
    notify(client, 'wanted ' .. number .. ' ' .. lock)
  end
end

-- stand gives the caller its place, if it waits.
local function stand()
  return how ~= '' and line.stand(owner, claim, lease, life, how, meta) or 0
end

-- askHeld answers when somebody has the lock.
local function askHeld()
  if call('hget', lock, owner) == '1' then
    -- An earlier copy of this request was granted.
    call('pexpire', lock, lease)
    return {1, tonumber(call('hget', lock, 'bedrock:token') or newest()), 1, 1}
  end
  recall()
  line.seeHeld()
  line.first(false)
  local place = stand()
  line.mark()
  local who, others = holder()
  local alone = (others or how == 'w' or line.hasOthers()) and 1 or 0
  return {0, call('pttl', lock), who, 0, place, newest(), alone}
end

-- waitBehind answers when somebody is before the caller in line, unless it is the caller's turn because those hear
-- nothing.
local function waitBehind(first, record)
  local place = stand()
  local given, own = line.serve(publish, owner)
  if given then
    return askHeld()
  elseif own then
    return
  end
  local alone = (how == 'w' or line.hasOthers()) and 1 or 0
  return {0, line.waitsFor(first, record), first, 1, place, newest(), alone}
end

-- whoIsBefore answers if it is not the caller's turn; else it returns nothing but whether the caller stands in line.
local function whoIsBefore()
  if kind then
    return askHeld()
  end
  local first, record = line.first(true)
  return first and first ~= owner and waitBehind(first, record), first
end

local may, answer, stands = pcall(whoIsBefore)
if not may then
  -- A user who may not do all of it has no place, and is in nobody's way.
  line.undo(owner)
  return type(answer) == 'table' and answer or redis.error_reply(answer)
elseif answer then
  return answer
end
local count = tonumber(ARGV[4])
local token, given = advance(counter, count)
if not token then
  return given
end
if stands then
  line.remove(owner, true)
end
-- Whoever releases it looks for the line: one of Redisson's that comes later leaves no mark.
call('hset', lock, owner, '1', 'bedrock:meta', meta, 'bedrock:token', string.format('%.0f', token + given - 1),
  HEIRS, '')
local expiring = redis.pcall('pexpire', lock, lease)
if expiring ~= 1 then
  -- A user without this permission must not leave a lock that never ends.
  call('del', lock)
  return expiring
end
return {1, token, given}
