-- Takes several locks, all of them or none, each once.
--
-- KEYS  of each lock: the lock, and its fencing counter
-- ARGV  life of a counter in ms, 0 for ever; then of each lock: lease in ms, owner, how many tokens, and metadata or
--       empty
--
-- Returns {1, then of each lock the first token, and how many: one where the owner has had the lock already}; or, when
-- one is held, {0, its place from 1 on, ms left, field...}; or {3, its place, kind} when one is of another kind, which
-- counts for more: it does not pass.

local wants = {}
for i = 1, #KEYS / 2 do
  local a = 4 * i - 2
  wants[i] = {
    lock = KEYS[2 * i - 1], counter = KEYS[2 * i],
    lease = ARGV[a], owner = ARGV[a + 1], count = tonumber(ARGV[a + 2]), meta = ARGV[a + 3],
  }
end

-- inTheWay answers if something is.
local function inTheWay()
  local held
  for i, want in ipairs(wants) do
    local kind = examine(want)
    if type(kind) == 'table' then
      return kind
    elseif kind then
      return {3, i, kind}
    end
    held = held or want.held and i
  end
  return held and refuseHeld(wants[held], {0, held})
end

-- reserve gets the tokens: a counter that cannot be used, and memory that is full, are met before any lock is taken.
local function reserve()
  for _, want in ipairs(wants) do
    if want.last then
      want.first, want.given = want.last, 1 -- an earlier copy of this request was granted
    else
      local first, given = advance(want.counter, want.count)
      if not first then
        return given
      end
      want.first, want.given = first, given
    end
  end
end

-- grantAll makes all locks their owners'. It returns, or raises, an error half-way if this user may not.
local function grantAll()
  local wrong = reserve()
  for i = 1, wrong and 0 or #wants do
    local want = wants[i]
    if want.last then
      call('pexpire', want.lock, want.lease)
    else
      want.made = not want.about
      wrong = write(want)
    end
    if wrong then
      break
    end
  end
  return wrong
end

-- undo frees what was taken: who is told of an error has no lock.
local function undo()
  for _, want in ipairs(wants) do
    if want.made then
      redis.pcall('del', want.lock)
    end
  end
end

local refusal = inTheWay()
if refusal then
  return refusal
end
local may, wrong = pcall(grantAll)
if not may or wrong then
  undo()
  return type(wrong) == 'table' and wrong or redis.error_reply(wrong)
end
local answer = {1}
for _, want in ipairs(wants) do
  answer[#answer + 1] = want.first
  answer[#answer + 1] = want.given
end
return answer
