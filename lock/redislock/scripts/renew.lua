-- Renews many locks of one slot; what is gone is not made again. Who listens for
-- the release of a lock whose life is cut short by it is told, as by a release: they
-- were told the longer one, and sleep.
--
-- KEYS  the locks
-- ARGV  PUBLISH or SPUBLISH, or empty if it is not known which; how channels begin; then owner
--       and lease in ms of each
--
-- Returns 1 for each that was renewed, 0 for each that is lost, -1 for each
-- whose key holds something else.

local function prolong(lock, lease)
  local shortened = redis.call('pttl', lock) > tonumber(lease)
  local done = redis.call('pexpire', lock, lease)
  if shortened then
    hint(ARGV[2] .. tagged(lock))
  end
  return done
end

local answer = {}
for i, key in ipairs(KEYS) do
  local has = redis.pcall('hget', key, ARGV[2 * i + 1])
  if type(has) == 'table' and not string.find(has.err, 'WRONGTYPE') then
    return has
  elseif type(has) == 'table' then
    answer[i] = -1
  elseif has == '1' then
    answer[i] = prolong(key, ARGV[2 * i + 2])
  else
    answer[i] = 0
  end
end
return answer
