-- raise remembers a token at a key unless a newer one is known, which it returns then. The lifetime is in
-- milliseconds, or 0.
local function raise(key, token, lifetime)
  local known = redis.call('GET', key)
  local newest = tonumber(known or 0) or 0
  if known and newest < 1 then error('key ' .. key .. ' is a guard\'s, and holds no token', 0) end
  if tonumber(token) < newest then return known end
  if tonumber(lifetime) > 0 then
    redis.call('SET', key, token, 'PX', lifetime)
  elseif tonumber(token) > newest then
    redis.call('SET', key, token)
  end
end
