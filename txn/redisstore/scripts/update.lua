-- Replaces a record if it has the version the writer has seen.
--
-- KEYS  the record, its shard's index and queue
-- ARGV  id, the revision and the epoch seen, then the values of the fields
--       below; the spec only if it is new
--
-- Returns 1, or 0 when another version is stored, or none.

local id = ARGV[1]
local old = call('hmget', KEYS[1], 'revision', 'epoch', 'created', 'status', 'parked', 'waits', 'due')
if old[1] ~= ARGV[2] or old[2] ~= ARGV[3] then
  return 0
end
call('hset', KEYS[1],
  'status', ARGV[4], 'parked', ARGV[5], 'waits', ARGV[6], 'owner', ARGV[7],
  'epoch', ARGV[8], 'due', ARGV[9], 'deadline', ARGV[10], 'updated', ARGV[11],
  'finished', ARGV[12], 'revision', ARGV[13], 'state', ARGV[14])
if ARGV[15] then
  call('hset', KEYS[1], 'spec', ARGV[15])
end
move(KEYS[2], KEYS[3], id,
  places(id, old[3], old[4], old[5], old[6], old[7]),
  places(id, old[3], ARGV[4], ARGV[5], ARGV[6], ARGV[9]))
return 1
