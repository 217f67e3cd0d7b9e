// Package sqlguard guards data in MySQL, MariaDB, PostgreSQL and SQLite from holders that have lost their lock, over
// database/sql with any driver. See package guard for what that means, and pgxguard for transactions of pgx.
//
//	g, err := sqlguard.New(db, sqlguard.Postgres, nil) // where the data is
//	err = g.Migrate(ctx)                               // once: makes the table bedrock_guard
//
//	err = g.Announce(ctx, guard.Of(lease)) // before the first read
//
//	tx, err := db.BeginTx(ctx, nil)
//	err = g.Check(ctx, tx, guard.Of(lease)) // first of all; roll back if it fails
//	_, err = tx.ExecContext(ctx, "UPDATE orders SET status = 'paid' WHERE id = 42")
//	err = tx.Commit()
//
// # The table
//
// [Guard] keeps the newest token of each name in a table, beside data of any shape: one row for each name, never
// removed. [Guard.Migrate] makes it; by hand, on MySQL and MariaDB
//
//	CREATE TABLE bedrock_guard (
//	    name VARBINARY(512) NOT NULL PRIMARY KEY,
//	    token BIGINT NOT NULL,
//	    raised BIGINT NOT NULL -- when this token was first seen, in microseconds since 1970
//	) ENGINE=InnoDB
//
// and elsewhere with name TEXT COLLATE "C" (PostgreSQL) or TEXT (SQLite).
//
// [Guard.Check] writes that row, so the transaction has it until it ends, and others of the same name wait: nobody
// newer comes between check and commit, and transactions of one name run one after the other. After a check that was
// accepted, what older holders have committed is there to be read, and they will commit nothing more.
//
//   - Check first, then read. On REPEATABLE READ of MySQL and MariaDB what was read before the check may be of before
//     an older holder's commit, and nothing tells. To announce before the transaction is the other way to be sure.
//   - On REPEATABLE READ and SERIALIZABLE of PostgreSQL, and on SQLite, the check of a transaction that has read before
//     fails if another one was faster: with a serialization failure, which is none of [guard.ErrStale]; so
//     may one that had to wait. Repeat the transaction, as always there: a stale token is refused then.
//   - What is checked in a transaction that is rolled back is not remembered. What was announced before is.
//   - Two names in one transaction: check them in the same order everywhere, or two transactions may wait for each
//     other; the database ends one of them, with a deadlock, and it can be repeated.
//   - Return what Check has failed with, and roll back: on MySQL a deadlock has rolled the transaction back, and the
//     statements after it would be committed one by one.
//
// # A column
//
// Where a lock guards one row, the row can have the token itself, and one statement checks and writes:
//
//	ALTER TABLE orders ADD COLUMN fence BIGINT NOT NULL DEFAULT 0
//
//	UPDATE orders SET status = ?, fence = ? WHERE id = ? AND fence <= ?
//
// [Column] says whether that was refused, and raises the column before the first read.
package sqlguard
