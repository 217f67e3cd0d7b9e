-- Gives a lock back; compare-and-delete, as all of Redlock's clients do it.
--
-- KEYS, ARGV and the result are those of release.lua for one lock.

local holder = redis.pcall('get', KEYS[1])
if type(holder) == 'table' and not string.find(holder.err, 'WRONGTYPE') then
  return holder
end
if holder ~= ARGV[2] then
  if redis.call('get', KEYS[3]) == ARGV[2] then
    return 0
  end
  return -1
end
local listening = tell(KEYS[2], '0')
redis.call('del', KEYS[1])
redis.pcall('set', KEYS[3], ARGV[2], 'px', ARGV[3])
return listening
