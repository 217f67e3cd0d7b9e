-- acquire_held.lua: what somebody is answered who wants a lock that is held. The answers are those of acquire.lua.

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
  local about, otherKind = aboutOf(lock, owner)
  if not about then
    if not otherKind then
      forgetSemaphore(lock)
    end
    return otherKind
  end
  -- A field that is no owner's, in a hash that may be anything, has another value.
  if about[1] ~= '1' then
    recall(lock, about)
    if how ~= '' then
      -- A user who may not stand in line must be told who has the lock all the same.
      local may, first, given = pcall(stand, lock, counter, lease, owner, count, meta, how, about)
      if may and first then
        return refuse(lock, {2, first, given})
      end
    end
    return refuse(lock, {0})
  end
  -- An earlier copy of this request was granted.
  local last = lastToken(about, counter)
  if last then
    call('pexpire', lock, lease)
    return {1, last}
  end
end
