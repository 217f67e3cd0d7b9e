-- held.lua: what is known of a mutex that somebody has.

-- isThere reports whether there is anything to be known of: the lock, or permits of ours, see kind.lua. A user who may
-- not look for those has none.
local function isThere(lock)
  local found = NUMBERLESS and redis.pcall('exists', lock, beside('bedrock_permits:', lock))
  return (type(found) == 'number' and found or call('exists', lock)) > 0
end

-- aboutOf returns what a request must know of a lock that is there: what is in the owner's field, and in those of its
-- line. It is nothing, and an answer {3, kind}, of a lock of another kind; and nothing at all of one that is only
-- remembered as a semaphore. Of a key that is no lock at all the answer is an error, in the words of kind.lua.
local function aboutOf(lock, owner)
  local about = redis.pcall('hmget', lock, owner, 'bedrock:token', HEIRS, 'mode', 'bedrock:meta', 'bedrock:passed',
    'bedrock:linger')
  if about.err then
    local kind = redis.pcall('type', lock)
    if kind.ok == 'string' and tonumber(call('get', lock)) then
      if redis.pcall('exists', beside('bedrock_latch:', lock)) == 1 then
        return nil, {3, 3} -- see kind.lua
      end
      return nil, not isUnused(lock) and {3, 2} or nil
    elseif kind.ok and kind.ok ~= 'hash' then
      return nil, redis.error_reply('WRONGTYPE the key ' .. lock .. ' is not a lock but a ' .. kind.ok)
    end
    about = {call('hget', lock, owner), nil, nil, redis.pcall('hget', lock, 'mode') or nil}
  end
  if about[4] == 'read' or about[4] == 'write' then
    return nil, {3, 1}
  elseif NUMBERLESS and not about[5] and call('exists', lock) == 0 then
    return nil, not isUnused(lock) and {3, 2} or nil
  end
  return about
end

-- lastToken returns the last token of who has a lock. While nobody stands in line, nobody can have moved the counter
-- since, so what stands there is this owner's; unless it was lost.
local function lastToken(about, counter) return tonumber(about[2] or call('get', counter) or nil) end

-- refuse tells who has the lock, and for how long, after what else there is to tell.
local function refuse(lock, answer)
  answer[#answer + 1] = call('pttl', lock)
  if call('hlen', lock) <= 16 then
    for _, field in ipairs(call('hkeys', lock)) do
      answer[#answer + 1] = field
    end
  end
  return answer
end

-- recall tells who has a lock that may linger, "client:owner ms", that somebody else wants it.
local function recall(lock, about)
  local client, owner = string.match(about[7] or '', '^([^ :]+):(%d+) ')
  if client then
    notify(client, 'wanted ' .. owner .. ' ' .. lock)
  end
end
