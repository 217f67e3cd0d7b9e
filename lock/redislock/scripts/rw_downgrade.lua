-- Has who has a read-write lock to write have it to read from now on, as Redisson does who reads by it and then stops
-- writing.
--
-- KEYS  1 the lock   2 its channel   3 what is known of its holders   4 the readers who wait   5 those of them whose
--       turn it is
-- ARGV  1 PUBLISH or SPUBLISH, or empty if it is not known which   2 owner   3 the turn of readers, in ms
--
-- Returns 1; or 0 when the owner does not have the lock.

local call = redis.call
local lock, channel, holders, waiting, turn = unpack(KEYS)
local owner = ARGV[2]

local mode = redis.pcall('hget', lock, 'mode')
if type(mode) == 'table' and not string.find(mode.err, 'WRONGTYPE') then
  return mode
elseif type(mode) == 'table' then
  return 0
elseif hasBecomeReader(lock, owner) then
  return 1
end
local has, life = writer(lock, holders)
if has ~= owner or life <= 0 then
  return 0
end
-- Publishing goes first: if this user may not, nothing has happened.
tellAll(channel)
call('hdel', lock, owner .. ':write')
call('del', holdKey(lock, owner .. ':write', 1))
call('hset', lock, 'mode', 'read', owner, '1')
call('set', holdKey(lock, owner, 1), '1', 'px', life)
if call('exists', waiting) == 1 then
  -- Readers who have waited come before the next writer.
  call('rename', waiting, turn)
  call('pexpire', turn, ARGV[3])
end
return 1
