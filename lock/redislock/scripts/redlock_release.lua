-- Gives a lock back; compare-and-delete, as all of Redlock's clients do it.
--
-- KEYS, ARGV and the result are those of release.lua.

if redis.call('get', KEYS[1]) ~= ARGV[1] then
  if redis.call('get', KEYS[3]) == ARGV[1] then
    return 0
  end
  return -1
end
local listening = redis.call(ARGV[2], KEYS[2], '0')
redis.call('del', KEYS[1])
redis.pcall('set', KEYS[3], ARGV[1], 'px', ARGV[3])
return listening
