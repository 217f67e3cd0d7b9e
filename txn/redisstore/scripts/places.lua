-- What every script knows of the layout. It stands before each that writes.
--
-- A record is a hash. Two sorted sets per shard find it again:
--
-- queue  what is due: the ID, scored with its due time
-- index  everything else, in the order of bytes (all scores are 0):
--          status NUL created NUL id
--          "parked" NUL created NUL id
--          "waits" NUL target NUL due NUL id
--
-- Times are 18 digits of microseconds, so that they sort as text; the zero time
-- is empty.

local call = redis.call
local final = {['committed'] = true, ['rolled-back'] = true, ['in-doubt'] = true}

-- places tells where a record is to be found. A parked or final one can be
-- claimed neither by time nor by target.
local function places(id, created, status, parked, waits, due)
  local tail = '\0' .. created .. '\0' .. id
  local p = {status = status .. tail}
  if parked ~= '' then
    p.parked = 'parked' .. tail
  elseif not final[status] then
    if due ~= '' then
      p.due = due
    end
    if waits ~= '' then
      -- What has no due time comes last.
      p.waits = 'waits\0' .. waits .. '\0' .. (due ~= '' and due or '~') .. '\0' .. id
    end
  end
  return p
end

-- move takes a record from where it was to where it is now.
local function move(index, queue, id, was, is)
  for _, kind in ipairs({'status', 'parked', 'waits'}) do
    if was[kind] ~= is[kind] then
      if was[kind] then
        call('zrem', index, was[kind])
      end
      if is[kind] then
        call('zadd', index, 0, is[kind])
      end
    end
  end
  if was.due ~= is.due then
    if is.due then
      call('zadd', queue, is.due, id)
    else
      call('zrem', queue, id)
    end
  end
end

-- now is this server's clock in microseconds.
local function now()
  local time = call('time')
  return time[1] * 1000000 + time[2]
end

-- stamp writes a time as it is stored.
local function stamp(micros)
  return string.format('%018.0f', micros)
end
