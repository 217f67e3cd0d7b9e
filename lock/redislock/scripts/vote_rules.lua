-- vote_rules.lua: what is asked of one of several servers that make up one lock.

-- hasKept reports whether the server has kept for so many ms all that it was told; or nothing and an error if this user
-- may not know. It has done so since it was started. It counts as saved then, so whoever was saved long ago was started
-- long ago: that is known at once, while INFO is a long text. Both tell whole seconds, so one more may not be over.
local function hasKept(age)
  local ms = tonumber(now()) / 1000
  local saved = redis.pcall('lastsave')
  if type(saved) == 'number' and ms - (saved + 1) * 1000 >= age then
    return true
  end
  local info = redis.pcall('info', 'server')
  local up = type(info) == 'string' and string.match(info, 'uptime_in_seconds:(%d+)')
  if up then
    return (up - 1) * 1000 + ms % 1000 >= age
  elseif type(saved) == 'number' then
    return false
  end
  return nil, redis.error_reply('NOPERM this user has no permissions to run lastsave or info: how old the server is '
    .. 'cannot be told')
end

-- advanceAbove is advance() for tokens above one that others have given out. They are the next ones, all that are
-- wanted, even ahead of the clock: what a lost counter would give out again is above what the others know. Where the
-- counter is lost they are not below the clock, as ever.
local function advanceAbove(counter, above, count)
  if above == 0 then
    return advance(counter, count)
  end
  local old, first = call('get', counter), above + 1
  if old then
    local before = tonumber(old)
    if not before or not (before <= 9e15) then
      return nil, redis.error_reply('WRONGTYPE the fencing counter ' .. counter .. ' is not a usable number')
    end
    first = math.max(first, before + 1)
  elseif tonumber(now()) > first then
    first, count = tonumber(now()), 1
  end
  local last = string.format('%.0f', first + count - 1)
  if keepFor == '0' then
    call('set', counter, last)
  else
    call('set', counter, last, 'px', keepFor)
  end
  return first, count
end
