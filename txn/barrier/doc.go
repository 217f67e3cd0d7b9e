// Package barrier is the participant's side of transactions: it lets every call of
// a coordinator take effect once, and in the right order, although calls are
// repeated, overtake one another and come late.
//
//	b, err := barrier.New(db, barrier.Postgres, nil) // where the business data is
//	err = b.Migrate(ctx)                             // once: makes the table bedrock_barrier
//
//	co.Register("stock.deduct", barrier.Handle(b, func(ctx context.Context, tx *sql.Tx, o Order) (Receipt, error) {
//		_, err := tx.ExecContext(ctx, "UPDATE stock SET n = n - $1 WHERE item = $2", o.Count, o.Item)
//		return Receipt{o.ID}, err
//	}))
//	co.Register("stock.restore", barrier.Handle(b, restore))
//
// What Handle returns serves HTTP and gRPC as well, behind package participant.
//
// The work and a mark that it was done are committed in one local transaction. The
// mark is named after the transaction, branch and operation of the call, all given
// by the coordinator; its unique key makes concurrent calls wait for each other.
//
// # What it does about the three evils
//
//   - A call is repeated, because its answer was lost: the work is not run again, and
//     the caller gets the first result (Duplicate).
//   - Compensate or cancel comes although action or try never did: there is nothing to
//     take back, and the work is not run (EmptyCompensation).
//   - Action or try comes, or comes again, after it was taken back: it is refused
//     (Hanging). Compensate and action at the same instant end in one of these, or in
//     both having run.
//
// A refusal of the business rolls the work back and is remembered, as [Barrier.Refuse]
// explains. Any other error rolls back and leaves nothing: the call may come again.
//
// # Messages
//
// A producer binds a message to its local transaction with [Barrier.Local] or
// [Barrier.Prepare], and [Barrier.Check] answers the coordinator that asks what became
// of it. The answer is final: after a no, the local transaction cannot be committed.
//
// # Databases
//
// MySQL, MariaDB, PostgreSQL and SQLite through database/sql, with any driver; for pgx
// that is its package stdlib. The table must be where the business data is: a mark in
// another database is committed at another time, and proves nothing.
//
// On MySQL, interpolateParams=true in the DSN saves a round trip per statement. On
// SQLite, set busy_timeout, or concurrent calls fail at once and are left to the
// coordinator's retries. Keep remote calls out of the work: a local transaction is
// open meanwhile, and with it a lock on the mark.
//
// Package redisbarrier does the same for data in Redis.
//
// # Cleaning
//
// Marks are kept until [Barrier.Clean] removes them, by the word of the coordinator
// that a transaction has ended. There is no expiry by age alone: a mark that goes
// while its transaction lives lets a late call take effect a second time.
//
// # DTM
//
// With Options.Layout set to DTM the marks are kept in the table of DTM's client
// libraries, and each side recognises the other's. That table has no room for
// results and refusals: duplicates get no result, and a duplicate of a refused call
// runs again.
package barrier
