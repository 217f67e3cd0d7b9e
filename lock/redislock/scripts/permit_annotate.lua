-- Replaces the metadata of who has permits of a semaphore.
--
-- KEYS  1 the permits that are taken   2 the semaphore's fencing counter   3 what is known of its holders
-- ARGV  1 owner   2 how many permits   3 how their IDs begin   4 metadata   5 life of the semaphore in ms
--
-- Returns 1; or 0 when the owner does not have them.

local taken, counter, holders = unpack(KEYS)
local owner, prefix = ARGV[1], ARGV[3]

local kind = redis.pcall('type', taken)
if kind.err then
  return kind
elseif kind.ok ~= 'zset' or not has(taken, prefix, tonumber(ARGV[2]), nowMs()) then
  return 0
end
local first, given = recorded(holders, counter, owner)
record(holders, owner, first, given, prefixText(prefix) .. ' ' .. ARGV[4], ARGV[5])
return 1
