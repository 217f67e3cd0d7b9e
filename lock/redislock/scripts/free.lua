-- free.lua: whether nobody has a lock that is asked for alone, in one command. This is isThere of held.lua: a function
-- costs time where it is made, so there is none up to here.

local free = false
if #KEYS == 2 then
  local found = NUMBERLESS and redis.pcall('exists', KEYS[1], 'bedrock_permits:'
    .. (string.find(KEYS[1], '{', 1, true) and KEYS[1] .. ':tagged' or '{' .. KEYS[1] .. '}'))
  free = (type(found) == 'number' and found or redis.call('exists', KEYS[1])) == 0
end
