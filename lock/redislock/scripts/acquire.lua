-- Takes locks in Redisson's layout, each once: one, or all that goroutines of
-- one process want at the same moment.
--
-- KEYS  of each lock: the lock, a hash, field owner -> 1, with a time to live;
--       and its fencing counter, the last token given out, a plain integer
-- ARGV  life of a counter in ms, 0 for ever; then of each lock: lease in ms, owner, how many
--       tokens, metadata or empty, and how to stand in line when it is held: the longest claim in
--       ms, after "=" to do so whenever that can be, after "?" only if somebody has had the lock by
--       it, and a number of this request; or empty. Before that "~", a time in ms and a blank, if
--       the lock may linger for so long when its owner has no use for it
--
-- Returns an answer; or, of several locks, the answers. An answer is the first
-- token; or {1, the first token, how many} when they are fewer than wanted; or, when
-- the owner has the lock already, {1, the last token}; or, when it is held, {0, ms
-- left, field...}, or {2, the first token reserved, how many, ms left, field...} when
-- it stands; or {3, kind} of another kind, 1 for a read-write lock and 2 for a semaphore; or an error, {-1, text}.

local function take(lock, counter, lease, owner, count, meta, how)
  local linger, rest = string.match(how, '^~(%d+) (.*)$')
  how = rest or how
  if not free and (#KEYS == 2 or isThere(lock)) then
    local answer = askHeld(lock, counter, lease, owner, count, meta, how)
    if answer then
      return answer
    end
  end
  count = tonumber(count)
  local first, given = advance(counter, count)
  if not first then
    return given
  end
  local wrong = give(lock, lease, owner, meta)
  if wrong then
    return wrong
  end
  if linger then
    call('hset', lock, 'bedrock:linger', clientOf(owner) .. ':' .. string.match(owner, '%d+$') .. ' ' .. linger)
  end
  if given < count then
    return {1, first, given}
  end
  return first
end

if #KEYS == 2 then
  return take(KEYS[1], KEYS[2], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
end

local answers = {}
for i = 1, #KEYS / 2 do
  local a = 5 * i - 3
  -- One that fails must not hide what became of the others.
  local ok, answer = pcall(take, KEYS[2 * i - 1], KEYS[2 * i],
    ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4])
  if not ok or type(answer) == 'table' and answer.err then
    answer = {-1, type(answer) == 'table' and answer.err or answer}
  end
  answers[i] = answer
end
return answers
