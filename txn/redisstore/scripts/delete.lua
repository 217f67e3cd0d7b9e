-- Removes final records of one shard that have the version stated.
--
-- KEYS  the index and the queue, then the records
-- ARGV  of each record its ID, revision and epoch
--
-- Returns how many are gone.

local gone = 0
for i = 3, #KEYS do
  local id, revision, epoch = ARGV[3 * i - 8], ARGV[3 * i - 7], ARGV[3 * i - 6]
  local r = call('hmget', KEYS[i], 'revision', 'epoch', 'created', 'status', 'parked', 'waits', 'due')
  if r[1] == revision and r[2] == epoch and final[r[4]] then
    call('del', KEYS[i])
    move(KEYS[1], KEYS[2], id, places(id, r[3], r[4], r[5], r[6], r[7]), {})
    gone = gone + 1
  end
end
return gone
