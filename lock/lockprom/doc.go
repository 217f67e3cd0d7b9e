// Package lockprom counts what happens to locks in Prometheus metrics.
//
//	observer, err := lockprom.New(prometheus.DefaultRegisterer, nil)
//	if err != nil {
//		return err
//	}
//	locks, err := redislock.New(conn, &redislock.Options{Lock: lock.Options{Observer: observer}})
//
// # Metrics
//
//   - bedrock_lock_wait_seconds: histogram, from queueing for a lock to having it
//   - bedrock_lock_hold_seconds: histogram, from having it to giving it up
//   - bedrock_lock_renewal_slack_seconds: histogram, how much of a lease's life was
//     left when it was renewed; small slack is a lost lock in the making
//   - bedrock_lock_acquired_total: counter
//   - bedrock_lock_left_total: counter by reason: unlocked, lost, held by somebody
//     else, gone (the caller's context ended), failed
//   - bedrock_lock_lost_total: counter; alert on it
//   - bedrock_lock_asked_total: counter of those that somebody has asked for
//   - bedrock_lock_overdue_total: counter of those that near their MaxHold
//   - bedrock_lock_renewed_total: counter
//   - bedrock_lock_refused_total: counter of the tokens that a resource refused, told by package guard: each is
//     somebody who went on after the loss of the lock; alert on it
//   - bedrock_lock_queued: gauge, how many wait now
//   - bedrock_lock_leases: gauge, how many have a lock now
//
// Counters begin at zero, so that an alert on their increase sees the first event; with
// [Options.NameLabel] they begin when somebody first wants a lock of that label.
//
// There is no label for the lock's name unless [Options.NameLabel] is given: a name
// per order would be a time series per order.
package lockprom
