-- Gives locks back: one, or all that goroutines of one process release at the
-- same moment.
--
-- KEYS  of each lock: the lock, its channel, this client's latch for it
-- ARGV  PUBLISH or SPUBLISH, or empty if it is not known which; life of a latch in ms; then the owner of each lock
--
-- Returns an answer; or, of several locks, the answers. An answer is how many
-- listen for the release, or -1 when the owner has no lock, or an error,
-- {-1, text}.

local call = redis.call

local function give(lock, channel, latch, owner)
  local has = redis.pcall('hget', lock, owner)
  if type(has) == 'table' and not string.find(has.err, 'WRONGTYPE') then
    error(has)
  end
  if has ~= '1' then
    -- An earlier copy of this very request may have done it.
    if call('get', latch) == owner then
      return 0
    end
    return -1
  end
  -- Publishing goes first: if this user may not, nothing has happened.
  -- Listeners hear of it only after the script.
  local listening = tell(channel)
  call('del', lock)
  redis.pcall('psetex', latch, ARGV[2], owner)
  return listening
end

if #KEYS == 3 then
  return give(KEYS[1], KEYS[2], KEYS[3], ARGV[3])
end

local answers = {}
for i = 1, #KEYS / 3 do
  -- One that fails must not hide what became of the others.
  local ok, answer = pcall(give, KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i], ARGV[i + 2])
  if not ok then
    answer = {-1, type(answer) == 'table' and answer.err or answer}
  end
  answers[i] = answer
end
return answers
