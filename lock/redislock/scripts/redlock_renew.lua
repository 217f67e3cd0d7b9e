-- Renews many locks of one slot; what is gone is not made again.
--
-- KEYS, ARGV and the result are those of renew.lua.

local answer = {}
for i, key in ipairs(KEYS) do
  local holder = redis.pcall('get', key)
  if type(holder) == 'table' then
    answer[i] = -1
  elseif holder == ARGV[2 * i - 1] then
    answer[i] = redis.call('pexpire', key, ARGV[2 * i])
  else
    answer[i] = 0
  end
end
return answer
