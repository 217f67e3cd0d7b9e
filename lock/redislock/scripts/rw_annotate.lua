-- Replaces the metadata of who has a read-write lock. It lies beside the lock: a field more in the lock's hash would be
-- a reader to Redisson.
--
-- KEYS  1 the lock   2 its fencing counter   3 this hold   4 what is known of its holders
-- ARGV  1 owner   2 read, upgradeable or write   3 metadata
--
-- Returns 1; or 0 when the owner does not have the lock.

local lock, counter, hold, holders = unpack(KEYS)
local owner = ARGV[1]

local mode = redis.pcall('hget', lock, 'mode')
if type(mode) == 'table' and not string.find(mode.err, 'WRONGTYPE') then
  return mode
elseif type(mode) == 'table' or
  not hasBecomeReader(lock, owner) and not hasHold(lock, hold, holders, owner, ARGV[2] == 'write') then
  return 0
end
local first, given = recorded(holders, counter, owner)
record(holders, owner, first, given, ARGV[3], redis.call('pttl', lock))
return 1
