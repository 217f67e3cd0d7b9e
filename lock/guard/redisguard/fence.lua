-- lower compares two tokens, as texts: they may be higher than the numbers of Lua are exact.
local function lower(a, b)
  return #a < #b or #a == #b and a < b
end

-- raise remembers a token at a key unless a newer one is known, which it returns then. The lifetime is in
-- milliseconds, or 0 for ever. It is never shortened: another guard may count on it.
local function raise(key, token, lifetime)
  local known = redis.call('GET', key)
  if known and not string.find(known, '^[1-9]%d*$') then -- also nan, which is neither higher nor lower
    error('key ' .. key .. ' is a guard\'s, and holds no token', 0)
  end
  if known and lower(token, known) then return known end
  local left = known and redis.call('PTTL', key) or 0 -- or -1 for ever
  local life = tonumber(lifetime)
  if left >= 0 and life > 0 then
    redis.call('SET', key, token, 'PX', math.max(left, life))
  elseif left >= 0 or token ~= known then
    redis.call('SET', key, token)
  end
end
