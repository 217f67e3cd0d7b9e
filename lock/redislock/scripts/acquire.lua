-- Takes locks in Redisson's layout, each once: one, or all that goroutines of
-- one process want at the same moment. Every call below is a good part of what
-- a lock costs the server; the usual way has five of them.
--
-- KEYS  of each lock: the lock, a hash, field owner -> 1, with a time to live;
--       and its fencing counter, the last token given out, a plain integer
-- ARGV  life of a counter in ms, 0 for ever; then of each lock: lease in ms,
--       owner, how many tokens, metadata or empty
--
-- Returns an answer; or, of several locks, the answers. An answer is the first
-- token; or {1, the first token, how many} when they are fewer than wanted; or, when
-- the owner has the lock already, {1, the last token}; or, when it is held, {0, ms
-- left, field...}; or an error, {-1, text}.

local call = redis.call
local keepFor = ARGV[1]
local clock

-- now is the server's clock in microseconds, as text.
local function now()
  if not clock then
    local time = call('time')
    local micros = time[2]
    if #micros < 6 then
      micros = string.rep('0', 6 - #micros) .. micros
    end
    clock = time[1] .. micros
  end
  return clock
end

-- advance gives out at most count tokens, and returns the first of them and how many
-- they are; or nil and an error. The counter is never below the server's clock, so
-- that it does not go back when it was lost; and it gives out no more than the clock
-- has passed, but one, so that nothing was given out above it. Most often one SET
-- moves it on.
local function advance(counter, count)
  local floor, old = now(), nil
  if keepFor == '0' then
    old = call('set', counter, floor, 'get')
  else
    old = call('set', counter, floor, 'px', keepFor, 'get')
  end
  local last = tonumber(floor)
  if not old then
    return last, 1
  end
  local before = tonumber(old)
  if not before or not (before <= 9e15) then
    call('set', counter, old)
    return nil, redis.error_reply('WRONGTYPE the fencing counter ' .. counter .. ' is not a usable number')
  end
  if before >= last then
    last = before + 1
    call('set', counter, string.format('%.0f', last), 'keepttl')
  end
  local given = math.min(count, last - before)
  return last - given + 1, given
end

-- refuse tells who has the lock, and for how long.
local function refuse(lock)
  local answer = {0, call('pttl', lock)}
  if call('hlen', lock) <= 16 then
    for _, field in ipairs(call('hkeys', lock)) do
      answer[#answer + 1] = field
    end
  end
  return answer
end

local function take(lock, counter, lease, owner, count, meta)
  if call('exists', lock) == 1 then
    -- WRONGTYPE ends it here when the key is not a lock at all. A field that is
    -- no owner's, in a hash that may be anything, has another value.
    if call('hget', lock, owner) ~= '1' then
      return refuse(lock)
    end
    -- An earlier copy of this request was granted. Nobody can have moved the
    -- counter since, so what stands there is this owner's; unless it was lost.
    local last = tonumber(call('get', counter) or nil)
    if last then
      call('pexpire', lock, lease)
      return {1, last}
    end
  end
  count = tonumber(count)
  local first, given = advance(counter, count)
  if not first then
    return given
  end
  if meta == '' then
    call('hset', lock, owner, '1')
  else
    call('hset', lock, owner, '1', 'bedrock:meta', meta)
  end
  local expiring = redis.pcall('pexpire', lock, lease)
  if expiring ~= 1 then
    -- A user without this permission must not leave a lock that never ends.
    call('del', lock)
    return expiring
  end
  if given < count then
    return {1, first, given}
  end
  return first
end

if #KEYS == 2 then
  return take(KEYS[1], KEYS[2], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
end

local answers = {}
for i = 1, #KEYS / 2 do
  local a = 4 * i - 2
  -- One that fails must not hide what became of the others.
  local ok, answer = pcall(take, KEYS[2 * i - 1], KEYS[2 * i], ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3])
  if not ok or type(answer) == 'table' and answer.err then
    answer = {-1, type(answer) == 'table' and answer.err or answer}
  end
  answers[i] = answer
end
return answers
