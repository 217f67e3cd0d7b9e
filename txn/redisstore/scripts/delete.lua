-- Removes final records of one shard that have the version stated.
--
-- KEYS  the index and the queue, then the records
-- ARGV  of each record its ID, revision, epoch and when it was created
--
-- Returns how many are gone.

local gone = 0
for i = 3, #KEYS do
  local id, revision, epoch, created = ARGV[4 * i - 11], ARGV[4 * i - 10], ARGV[4 * i - 9], ARGV[4 * i - 8]
  local r = call('hmget', KEYS[i], 'revision', 'epoch', 'created', 'status', 'parked', 'waits', 'due')
  if r[1] == revision and r[2] == epoch and r[3] == created and final[r[4]] then
    call('del', KEYS[i])
    move(KEYS[1], KEYS[2], id, places(id, r[3], r[4], r[5], r[6], r[7]), {})
    gone = gone + 1
  end
end
return gone
