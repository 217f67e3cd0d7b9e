-- advance.lua: fencing tokens. The first argument of every script that uses it is the life of a counter in
-- ms, 0 for ever.

local call = redis.call
local keepFor = ARGV[1]
local clock

-- now is the server's clock in microseconds, as text.
local function now()
  if not clock then
    local time = call('time')
    clock = time[1] .. string.sub('00000' .. time[2], -6)
  end
  return clock
end

-- advance gives out at most count tokens, and returns the first of them, how many
-- they are and the last one before; or nil and an error. The counter is never below the
-- server's clock, so that it does not go back when it was lost; and it gives out no more than
-- the clock has passed, but one, so that nothing was given out above it. Most often one SET
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
  return last - given + 1, given, before
end

