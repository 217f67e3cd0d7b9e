-- Counts the records of one shard.
--
-- KEYS  the index and the queue
-- ARGV  the statuses
--
-- Returns how many are parked, how many are due, when the oldest that is not
-- final was created or empty, and how many have each status.

local function holding(kind)
  return call('zlexcount', KEYS[1], '[' .. kind .. '\0', '(' .. kind .. '\1')
end

local oldest = ''
local answer = {holding('parked'), call('zcount', KEYS[2], '-inf', now()), oldest}
for i, status in ipairs(ARGV) do
  answer[i + 3] = holding(status)
  if not final[status] then
    local from = status .. '\0'
    local first = call('zrangebylex', KEYS[1], '[' .. from, '(' .. status .. '\1', 'limit', 0, 1)[1]
    local created = first and string.match(string.sub(first, #from + 1), '^%d+')
    if created and (oldest == '' or created < oldest) then
      oldest = created
    end
  end
end
answer[3] = oldest
return answer
