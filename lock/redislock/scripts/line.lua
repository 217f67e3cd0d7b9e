-- line.lua: who waits for a fair lock stands in the line of Redisson's: a list of owners, and a sorted set of when
-- each may be put out, in ms since 1970. Redisson has a waiter say once for how long it will wait, and takes that off
-- the others' times when it has gone. Ours says every few seconds that it is there, in a hash beside the line: since
-- when in µs, until when in ms, its claim, its lease and the life of the fencing counter in ms, how it is told (g: it
-- is granted the lock, if somebody hears of it; c: it is granted the lock; w: it asks when its channel says so), and
-- its metadata. A field of its own has when one of the others was told that the lock is free, when that was seen last,
-- and who it is.

local LINE_WAIT = 15000 -- how much later than who is before it a waiter of ours may be put out by Redisson
local LINE_COMES = 5000 -- how long one of Redisson's has to come once it was told that the lock is free
local LINE_SEEN = 4000 -- for how long it is taken to be free still when nobody looks
local TOLD = 'bedrock:told' -- that field
local LINE_OURS = 60000 -- how long a line of ours is kept that nobody touches
local LINE_OTHERS = 86400000 -- and one in which others stand

-- lineOf returns what can be done with the line of a lock. Functions cost time where they are made: these only where
-- there is a line.
local function lineOf(lock)
  local call = redis.call
  local name = tagged(lock)
  local queue, timeouts, records = queueOf(lock), 'redisson_lock_timeout:' .. name, beside('bedrock_line:', lock)
  local channel, counter = 'redisson_lock__channel:' .. name, 'redisson_lock_token:' .. name
  local time = call('time')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local line = {}

  -- recordOf returns what one of ours has said; nothing of another's.
  local function recordOf(owner)
    local text = call('hget', records, owner)
    local since, ends, claim, lease, life, how, meta =
      string.match(text or '', '^(%d+) (%d+) (%d+) (%d+) (%d+) (%a) (.*)$')
    return since and {
      since = since, ends = tonumber(ends), claim = claim, lease = lease, life = life, how = how, meta = meta,
    }
  end

  -- isThere reports whether somebody stands in line.
  function line.isThere() return call('exists', queue) == 1 end

  -- hasOthers reports whether somebody stands in line who is not one of ours, as far as it is known.
  function line.hasOthers()
    return call('llen', queue) ~= call('hlen', records) - (call('hget', records, TOLD) and 1 or 0)
  end

  -- hasten has those of Redisson's behind a place wait for as much less as one of ours there would have added.
  local function hasten(place)
    for _, other in ipairs(line.hasOthers() and call('lrange', queue, place, -1) or {}) do
      if not call('hget', records, other) and call('zscore', timeouts, other) then
        call('zincrby', timeouts, -LINE_WAIT, other)
      end
    end
  end

  -- keep keeps the line for as long as it may be of use if nobody comes to it any more. Who stands there without what
  -- ours have said would be taken for one of Redisson's, so that is kept as long.
  local function keep()
    local life = line.hasOthers() and LINE_OTHERS or LINE_OURS
    call('pexpire', queue, life)
    call('pexpire', timeouts, life)
    call('pexpire', records, line.isThere() and life or LINE_COMES + LINE_SEEN)
  end

  -- clean looks at some of what ours have said, and forgets that of those who have gone and stand in line no more.
  local function clean()
    local some = call('hrandfield', records, 2, 'withvalues')
    for i = 1, #some, 2 do
      local ends = tonumber(string.match(some[i + 1], '^%d+ (%d+) %d+ %d+'))
      if some[i] ~= TOLD and ends and ends <= now and not call('lpos', queue, some[i]) then
        call('hdel', records, some[i])
      end
    end
  end

  -- remove takes an owner out.
  function line.remove(owner, ours)
    local at = call('lpos', queue, owner)
    if at then
      call('lrem', queue, 1, owner)
      call('zrem', timeouts, owner)
    end
    call('hdel', records, owner)
    if at and ours then
      hasten(at)
      keep()
    end
  end

  -- undo takes one of ours out as far as this user may, without a word to anybody.
  function line.undo(owner)
    redis.pcall('lrem', queue, 1, owner)
    redis.pcall('zrem', timeouts, owner)
    redis.pcall('hdel', records, owner)
  end

  -- withdraw takes one of ours out who waits, and reports whether it did.
  function line.withdraw(owner)
    local known = call('hget', records, owner) or call('lpos', queue, owner)
    if known then
      line.remove(owner, true)
    end
    return known
  end

  -- told returns when one of Redisson's was told that the lock is free, which has been so since; nothing if it was not.
  local function told(owner)
    local at, seen, who = string.match(call('hget', records, TOLD) or '', '^(%d+) (%d+) (.*)$')
    return who == owner and tonumber(seen) + LINE_SEEN > now and tonumber(at) or nil
  end

  -- isGone reports whether that one is not there any more, as far as can be known while nobody has the lock or
  -- somebody does.
  local function isGone(owner, record, free)
    if record then
      return record.ends <= now
    end
    local score, since = call('zscore', timeouts, owner), free and told(owner)
    return score and tonumber(score) <= now or since and since + LINE_COMES <= now
  end

  -- first returns who is next, and its record if it is one of ours. Those before it who have gone are put out.
  function line.first(free)
    while true do
      local owner = call('lindex', queue, 0)
      local record = owner and recordOf(owner)
      if not owner or not isGone(owner, record, free) then
        return owner, record
      end
      line.remove(owner, record)
    end
  end

  -- restore puts one of ours back in its place whom Redisson has put out: at the head, behind those who came before it.
  local function restore(owner, since)
    local at = 0
    while true do
      local other = call('lindex', queue, at)
      local record = other and recordOf(other)
      if not record or tonumber(record.since) > tonumber(since) then
        break
      end
      at = at + 1
    end
    local other = call('lindex', queue, at)
    if other then
      call('linsert', queue, 'before', other, owner)
    else
      call('rpush', queue, owner)
    end
  end

  -- putOutBefore puts those of ours out who have gone, and are just before a place. It returns what that is then.
  local function putOutBefore(at)
    while at > 0 do
      local other = call('lindex', queue, at - 1)
      local record = recordOf(other)
      if not record or record.ends > now then
        break
      end
      line.remove(other, true)
      at = at - 1
    end
    return at
  end

  -- stand gives an owner a place at the end, or keeps the one it has. It returns which that is, the first being 1.
  function line.stand(owner, claim, lease, life, how, meta)
    local record = recordOf(owner)
    local since = time[1] .. string.sub('00000' .. time[2], -6)
    local at = call('lpos', queue, owner)
    if record and (at or record.ends > now) then
      since = record.since
    end
    local ends = string.format('%.0f', now + tonumber(claim))
    call('hset', records, owner, table.concat({since, ends, claim, lease, life, how, meta}, ' '))
    if not at and record and since == record.since then
      restore(owner, since)
    elseif not at then
      call('rpush', queue, owner)
    end
    at = putOutBefore(call('lpos', queue, owner))
    local before = at > 0 and tonumber(call('zscore', timeouts, call('lindex', queue, at - 1)) or nil) or now
    call('zadd', timeouts, string.format('%.0f', math.max(before, now) + LINE_WAIT), owner)
    clean()
    keep()
    return at + 1
  end

  -- grant gives the lock to one of ours, if somebody hears of it: when all is done that may be forbidden to this user.
  local function grant(owner, record)
    local own = keepFor
    keepFor = record.life
    local token = advance(counter, 1)
    keepFor = own
    if not token then
      return false
    end
    local text = string.format('%.0f', token)
    call('hset', lock, owner, '1', 'bedrock:meta', record.meta, 'bedrock:token', text, HEIRS, '')
    local heard = redis.pcall('pexpire', lock, record.claim) == 1 and notify(clientOf(owner),
      'given ' .. string.match(owner, '%d+$') .. ' ' .. text .. ' ' .. record.lease .. ' ' .. lock)
    if type(heard) ~= 'number' or heard == 0 and record.how ~= 'c' then
      call('del', lock)
      return false
    end
    pcall(line.remove, owner, true)
    return true
  end

  -- mark has whoever releases the lock look for the line.
  function line.mark()
    if line.isThere() then
      call('hsetnx', lock, HEIRS, '')
    end
  end

  -- wake tells somebody on the channel that is its own, as Redisson does.
  local function wake(owner, publish)
    for _, command in ipairs(publish ~= '' and {publish} or {'spublish', 'publish'}) do
      redis.pcall(command, channel .. ':' .. owner, '0')
    end
  end

  -- hasOurs reports whether one of ours stands in line.
  local function hasOurs()
    for _, owner in ipairs(call('lrange', queue, 0, -1)) do
      if call('hget', records, owner) then
        return true
      end
    end
    return false
  end

  -- tellFree tells one of Redisson's that the lock is free.
  local function tellFree(owner, publish)
    call('hset', records, TOLD, string.format('%.0f %.0f ', told(owner) or now, now) .. owner)
    keep()
    if not hasOurs() then
      call('pexpire', records, LINE_COMES + LINE_SEEN)
    end
    wake(owner, publish)
  end

  -- seeHeld records that somebody has the lock.
  function line.seeHeld() call('hdel', records, TOLD) end

  -- putAside takes those of ours out of the line who are before a place, and keeps what they have said: they come back
  -- into their places if they live. Redisson's would not come from behind them.
  local function putAside(at)
    for _ = 1, at do
      call('zrem', timeouts, call('lpop', queue))
    end
  end

  -- serve gives a lock that nobody has to who is next, or tells that one. It returns who has it by that, or whether
  -- it is the turn of the one who asks. One of ours that hears nothing is passed over, and keeps its place: it has
  -- died, or asks soon.
  function line.serve(publish, asking)
    local at = 0
    while true do
      local owner = call('lindex', queue, at)
      local record = owner and recordOf(owner)
      if not owner then
        return
      elseif isGone(owner, record, true) then
        line.remove(owner, record)
      elseif owner == asking then
        return nil, true
      elseif record and record.how == 'w' then
        return wake(owner, publish)
      elseif not record then
        putAside(at)
        return tellFree(owner, publish)
      elseif grant(owner, record) then
        return owner
      else
        at = at + 1
      end
    end
  end

  -- waitsFor returns how long it takes until who is next may be passed over.
  function line.waitsFor(owner, record)
    if record then
      return math.max(record.ends - now, 1)
    end
    return math.max((told(owner) or now) + LINE_COMES - now, 1)
  end

  return line
end
