-- Renews many locks of one slot; what is gone is not made again.
--
-- KEYS  the locks
-- ARGV  owner and lease in ms of each
--
-- Returns 1 for each that was renewed, 0 for each that is lost, -1 for each
-- whose key holds something else.

local answer = {}
for i, key in ipairs(KEYS) do
  local has = redis.pcall('hget', key, ARGV[2 * i - 1])
  if type(has) == 'table' then
    answer[i] = -1
  elseif has == '1' then
    answer[i] = redis.call('pexpire', key, ARGV[2 * i])
  else
    answer[i] = 0
  end
end
return answer
