-- Writes a new record.
--
-- KEYS  the record, its shard's index and queue
-- ARGV  id, then the values of the fields below
--
-- Returns 1, or 0 when there is a record with this ID.

if call('exists', KEYS[1]) == 1 then
  return 0
end
call('hset', KEYS[1],
  'mode', ARGV[2], 'name', ARGV[3], 'digest', ARGV[4], 'created', ARGV[5],
  'status', ARGV[6], 'parked', ARGV[7], 'waits', ARGV[8], 'owner', ARGV[9],
  'epoch', ARGV[10], 'due', ARGV[11], 'deadline', ARGV[12], 'updated', ARGV[13],
  'finished', ARGV[14], 'revision', ARGV[15], 'state', ARGV[16], 'spec', ARGV[17])
move(KEYS[2], KEYS[3], ARGV[1], {}, places(ARGV[1], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[11]))
return 1
