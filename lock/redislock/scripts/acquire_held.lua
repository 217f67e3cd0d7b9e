-- acquire_held.lua: what somebody is answered who wants a lock that is held. The answers are those of acquire.lua.

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
local function recall(lock, lingers)
  local client, owner = string.match(lingers, '^([^ :]+):(%d+) ')
  if client then
    notify(client, 'wanted ' .. owner .. ' ' .. lock)
  end
end

-- claim makes a finished lock for whom it may be passed on to.
local function claim(key, life, owner, meta, last)
  call('del', key)
  call('hset', key, owner, '1', 'bedrock:meta', meta, 'bedrock:token', last, 'bedrock:passed', '1')
  if redis.pcall('pexpire', key, life) ~= 1 then
    call('del', key)
    return false
  end
  return true
end

-- stand puts a client into the line for a lock, at its end unless it is there. It returns the
-- first token reserved for it, and how many; or nothing when it does not stand.
--
-- Whoever is in the line has higher tokens than the holder and than who is before it: they are
-- reserved when it joins. Nobody joins when the counter has been lost meanwhile.
local function stand(lock, counter, lease, owner, count, meta, how, about)
  local heirs, when, longest, request = about[3] or '', string.match(how, '^(.)(%d+) (%d+)$')
  if about[4] or not about[5] or heirs == '' and about[3] or not (when == '=' or about[3] or about[6]) then
    return
  end
  local life = math.min(tonumber(lease), tonumber(longest))
  local client, number = clientOf(owner), string.match(owner, ':(%d+)$')
  local key, place = heirKey(lock, client), client .. ':' .. number .. ':'
  local at, to = string.find(heirs, client .. ':', 1, true)
  if at and string.sub(heirs, at, at + #place - 1) == place and call('pexpire', key, life) == 1 then
    return 0, 0
  end
  if at then
    heirs = string.sub(heirs, 1, at - 1) .. string.sub(heirs, string.find(heirs, ' ', to, true) + 1)
  end
  if #heirs > 6000 then
    return
  end
  local first, given, before = advance(counter, tonumber(count))
  if not before then
    return
  end
  if not claim(key, life, owner, meta, string.format('%.0f', first + given - 1)) then
    return
  end
  if about[2] then
    call('hset', lock, HEIRS, heirs .. place .. request .. ' ')
  else
    call('hset', lock, HEIRS, heirs .. place .. request .. ' ', 'bedrock:token', string.format('%.0f', before))
  end
  return first, given
end

-- askHeld answers when somebody has the lock.
local function askHeld(lock, counter, lease, owner, count, meta, how)
  local about = redis.pcall('hmget', lock, owner, 'bedrock:token', HEIRS, 'mode', 'bedrock:meta', 'bedrock:passed',
    'bedrock:linger')
  if about.err then
    -- WRONGTYPE ends it here when the key is not a lock at all.
    local kind = redis.pcall('type', lock)
    if kind.ok == 'string' and tonumber(call('get', lock)) then
      return not forgetSemaphore(lock) and {3, 2}
    end
    about = {call('hget', lock, owner), nil, nil, redis.pcall('hget', lock, 'mode') or nil}
  end
  if about[4] == 'read' or about[4] == 'write' then
    return {3, 1}
  end
  -- A field that is no owner's, in a hash that may be anything, has another value.
  if about[1] ~= '1' then
    if about[7] then
      recall(lock, about[7])
    end
    if how ~= '' then
      -- A user who may not stand in line must be told who has the lock all the same.
      local may, first, given = pcall(stand, lock, counter, lease, owner, count, meta, how, about)
      if may and first then
        return refuse(lock, {2, first, given})
      end
    end
    return refuse(lock, {0})
  end
  -- An earlier copy of this request was granted. While nobody stands in line, nobody can have
  -- moved the counter since, so what stands there is this owner's; unless it was lost.
  local last = tonumber(about[2] or call('get', counter) or nil)
  if last then
    call('pexpire', lock, lease)
    return {1, last}
  end
end
