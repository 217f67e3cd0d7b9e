-- Finds what can be claimed, without claiming it.
--
-- KEYS  the queues of some shards; or, to claim by target, their indexes
-- ARGV  how many at most; the target, or empty
--
-- Returns the time, and of each record found, in order, its due time, NUL, and
-- its ID.

local limit, target = tonumber(ARGV[1]), ARGV[2]
local clock = now()

-- heads are the first of one shard.
local function heads(key, count)
  local found = {}
  if target == '' then
    local pairs = call('zrangebyscore', key, '-inf', clock, 'withscores', 'limit', 0, count)
    for i = 1, #pairs, 2 do
      found[#found + 1] = stamp(pairs[i + 1]) .. '\0' .. pairs[i]
    end
    return found
  end
  local from = 'waits\0' .. target .. '\0'
  for i, member in ipairs(call('zrangebylex', key, '[' .. from, '(waits\0' .. target .. '\1', 'limit', 0, count)) do
    found[i] = string.sub(member, #from + 1)
  end
  return found
end

-- gather takes count of every shard, and tells before which place nothing can
-- be missing.
local function gather(count)
  local all, sure = {}, nil
  for _, key in ipairs(KEYS) do
    local found = heads(key, count)
    for _, head in ipairs(found) do
      all[#all + 1] = head
    end
    if #found == count and (not sure or found[count] < sure) then
      sure = found[count]
    end
  end
  table.sort(all)
  return all, sure
end

-- Records spread evenly over the shards, so a few of each are nearly always
-- enough.
local count = math.min(limit, math.ceil(2 * limit / #KEYS) + 2)
local all, sure = gather(count)
while count < limit and sure and (#all < limit or all[limit] > sure) do
  count = math.min(limit, 4 * count)
  all, sure = gather(count)
end
local answer = {stamp(clock)}
for i = 1, math.min(limit, #all) do
  answer[i + 1] = all[i]
end
return answer
