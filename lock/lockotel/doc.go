// Package lockotel reports what happens to locks to OpenTelemetry: metrics, and a
// span for every wait and every lease.
//
//	observer, err := lockotel.New(nil) // the global providers
//	if err != nil {
//		return err
//	}
//	locks, err := memlock.New(nil, &lock.Options{Observer: observer})
//
// # Metrics
//
//   - bedrock.lock.wait: histogram, s, from queueing for a lock to having it
//   - bedrock.lock.hold: histogram, s, from having it to giving it up
//   - bedrock.lock.renewal.slack: histogram, s, how much of a lease's life was left
//     when it was renewed; small slack is a lost lock in the making
//   - bedrock.lock.acquired, bedrock.lock.left, bedrock.lock.lost,
//     bedrock.lock.asked, bedrock.lock.overdue, bedrock.lock.renewed, bedrock.lock.refused: counters
//
// # Spans
//
// "lock wait" lasts from queueing to having the lock or giving up, "lock hold" from
// having it to giving it up. Both are children of the span in the context given to
// Lock and carry the lock's name, owner and token; metrics carry none of these,
// because a name per order would be a time series per order.
package lockotel
