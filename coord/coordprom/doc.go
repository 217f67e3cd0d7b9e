// Package coordprom counts what happens to transactions in Prometheus metrics.
//
//	counter, _ := store.(driver.Counter)
//	observer, err := coordprom.New(prometheus.DefaultRegisterer, &coordprom.Options{Store: counter})
//	if err != nil {
//		return err
//	}
//	co, err := coord.New(store, &coord.Options{Observer: observer})
//
// # What this coordinator does
//
//   - bedrock_txn_submitted_total: counter by mode
//   - bedrock_txn_finished_total: counter by mode and outcome
//   - bedrock_txn_duration_seconds: histogram by mode and outcome, from submission to
//     the end
//   - bedrock_txn_parked_total: counter by mode; alert on it
//   - bedrock_txn_attempts_total: counter by mode, op and answer, one for every call
//   - bedrock_txn_attempt_seconds: histogram by mode and op, how long calls took
//   - bedrock_txn_claimed_total: counter, transactions taken over or taken up again
//   - bedrock_txn_fenced_total: counter, transactions another coordinator took away
//   - bedrock_txn_removed_total: counter, final transactions deleted
//   - bedrock_txn_breaker_open: gauge, targets held to be down
//
// # What is in the store
//
// The same for all coordinators on it, counted when asked; only with [Options.Store].
//
//   - bedrock_txn_transactions: gauge by status
//   - bedrock_txn_parked: gauge, waiting for a person
//   - bedrock_txn_due: gauge, the backlog that nobody drives yet
//   - bedrock_txn_oldest_age_seconds: gauge, of the oldest that is not final
//   - bedrock_txn_store_up: gauge, 0 when counting failed; then the others are absent. 0
//     too while the coordinator meets failures of the store, with [Options.Trouble]
//
// Counters begin at zero, so that an alert on their increase sees the first event. No
// label holds an ID, a branch or a target. There is a label name only with
// [Options.NameLabel]; those counters begin when such a transaction is first heard of.
package coordprom
