-- Renews permits of semaphores of one slot; what is gone is not made again. Who listens is told where a life is
-- cut short.
--
-- KEYS  of each: the semaphore, the permits that are taken, what is known of its holders
-- ARGV  PUBLISH or SPUBLISH, or empty if it is not known which; how channels begin; life of a semaphore in ms; then
--       how many permits, how their IDs begin, and lease in ms of each
--
-- Returns 1 for each that was renewed, 0 for each that is lost, -1 for each whose key holds something else.

local call = redis.call
local now = nowMs()

local function renew(name, taken, holders, count, prefix, lease)
  local kind = redis.pcall('type', taken)
  if kind.err then
    return kind
  elseif kind.ok ~= 'zset' then
    return kind.ok == 'none' and 0 or -1
  end
  local over = isPlain(taken) and comeBack(name, taken, holders, now) or 0
  if over > 0 then
    hintOf(ARGV[1], ARGV[2] .. tagged(name), over)
  end
  if not has(taken, prefix, count, now) then
    return 0
  end
  local before = tonumber(call('zscore', taken, idOf(prefix, 1)))
  setEnds(taken, prefix, count, now + lease)
  keep(name, taken, holders, math.max(lease, tonumber(ARGV[3])))
  if before > now + lease then
    hintOf(ARGV[1], ARGV[2] .. tagged(name), 1)
  end
  return 1
end

local answer = {}
for i = 1, #KEYS / 3 do
  answer[i] = renew(KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i],
    tonumber(ARGV[3 * i + 1]), ARGV[3 * i + 2], tonumber(ARGV[3 * i + 3]))
  if type(answer[i]) == 'table' then
    return answer[i]
  end
end
return answer
