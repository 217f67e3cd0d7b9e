-- Renews many locks of one slot; what is gone is not made again.
--
-- KEYS, ARGV and the result are those of renew.lua.

local function prolong(lock, lease)
  local shortened = redis.call('pttl', lock) > tonumber(lease)
  local done = redis.call('pexpire', lock, lease)
  if shortened then
    local tagged = string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}'
    hint(ARGV[2] .. tagged)
  end
  return done
end

local answer = {}
for i, key in ipairs(KEYS) do
  local holder = redis.pcall('get', key)
  if type(holder) == 'table' and not string.find(holder.err, 'WRONGTYPE') then
    return holder
  elseif type(holder) == 'table' then
    answer[i] = -1
  elseif holder == ARGV[2 * i + 1] then
    answer[i] = prolong(key, ARGV[2 * i + 2])
  else
    answer[i] = 0
  end
end
return answer
