-- Counts the replicas of the master that has a lock.
--
-- KEYS  1 the lock
--
-- Returns how many are connected.

return tonumber(string.match(redis.call('info', 'replication'), 'connected_slaves:(%d+)'))
