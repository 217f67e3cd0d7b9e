-- countdown.lua: Redisson's latch, a number that is counted down, and gone at zero. Beside one that Bedrock has made is
-- a mark, see kind.lua; and beside any, for a minute, what each call was answered: it may be made again, and is not
-- done twice.
--
-- KEYS  1 the latch   2 its mark   3 what this call was answered
-- ARGV  1 PUBLISH or SPUBLISH, or empty if it is not known which   2 the channel   3 another channel, or empty
--       4 how many
--
-- An answer is {1, how many} if it was done, {0, how many} if it was not, and {2, kind} if the name is that of a lock.

local call = redis.call
local name, mark, answered = unpack(KEYS)

-- isSemaphore reports whether a number is known to be one: Bedrock keeps how many permits there are, and Redisson those
-- that are taken.
local function isSemaphore()
  local marks = redis.call('hmget', beside('bedrock_holders:', name), 'bedrock:limit', 'bedrock:plain')
  return marks[1] or marks[2] or hasPermits(name)
end

-- countLeft returns what is left of the latch, 0 if there is none; or nothing, and an answer or an error.
local function countLeft()
  local kind, wrong = kindOf(name, 'latch')
  if wrong then
    return nil, wrong
  elseif kind == SEMAPHORE and not isSemaphore() then
    kind = LATCH -- of Redisson's
  end
  if not kind then
    redis.pcall('del', mark) -- Redisson has opened it
    return 0
  elseif kind == SEMAPHORE and isUnused(name) then
    return 0
  elseif kind ~= LATCH then
    return nil, {2, kind}
  end
  local text = call('get', name)
  if not string.find(text, '^%-?%d+$') then
    return nil, redis.error_reply('WRONGTYPE the key ' .. name .. ' is a number, but no count')
  end
  return math.max(tonumber(text), 0)
end

-- answerBefore returns what an earlier copy of this call was answered.
local function answerBefore()
  local what, number = string.match(call('get', answered) or '', '^(%d) (%d+)$')
  return what and {tonumber(what), tonumber(number)}
end

-- answer returns what becomes of this call, and keeps that for its copies.
local function answer(what, number)
  call('set', answered, what .. ' ' .. string.format('%.0f', number), 'px', '60000')
  return {what, number}
end

-- answerAfter is answer for what changes something. A user who may not do that is not told that it was done, also not
-- when he asks again.
local function answerAfter(number, change)
  local done = answer(1, number)
  local may, wrong = pcall(change)
  if may then
    return done
  end
  call('set', answered, '', 'px', 1)
  return type(wrong) == 'table' and wrong or redis.error_reply(wrong)
end

-- tellAwaiting tells those who await the latch: 0 that it is open, 1 that it is shut. It goes first: if this user may
-- not, nothing has happened; and they hear of it only after the script.
local function tellAwaiting(text)
  for i = 2, 3 do
    if ARGV[i] ~= '' then
      tell(ARGV[i], text)
    end
  end
end
