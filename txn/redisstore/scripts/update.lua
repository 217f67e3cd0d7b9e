-- Replaces a record if it has the version the writer has seen.
--
-- KEYS  the record, its shard's index and queue
-- ARGV  id, the revision and the epoch seen, and when it was created, then the
--       values of the fields below; the spec only if it is new
--
-- Returns 1, or 0 when another version is stored, or none.

local id = ARGV[1]
local old = call('hmget', KEYS[1], 'revision', 'epoch', 'created', 'status', 'parked', 'waits', 'due')
if old[1] ~= ARGV[2] or old[2] ~= ARGV[3] or old[3] ~= ARGV[4] then
  return 0
end
call('hset', KEYS[1],
  'status', ARGV[5], 'parked', ARGV[6], 'waits', ARGV[7], 'owner', ARGV[8],
  'epoch', ARGV[9], 'due', ARGV[10], 'deadline', ARGV[11], 'updated', ARGV[12],
  'finished', ARGV[13], 'revision', ARGV[14], 'state', ARGV[15])
if ARGV[16] then
  call('hset', KEYS[1], 'spec', ARGV[16])
end
move(KEYS[2], KEYS[3], id,
  places(id, old[3], old[4], old[5], old[6], old[7]),
  places(id, old[3], ARGV[5], ARGV[6], ARGV[7], ARGV[10]))
return 1
