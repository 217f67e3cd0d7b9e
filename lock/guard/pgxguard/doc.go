// Package pgxguard guards data in PostgreSQL from holders that have lost their lock, in transactions of pgx. It does
// what package sqlguard does for database/sql, on the same table: see there for what a check promises and what it
// asks for.
//
//	g, err := pgxguard.New(pool, nil)
//	err = g.Migrate(ctx) // once: makes the table bedrock_guard
//
//	err = g.Announce(ctx, guard.Of(lease)) // before the first read
//
//	tx, err := pool.Begin(ctx)
//	err = g.Check(ctx, tx, guard.Of(lease)) // first of all; roll back if it fails
//	_, err = tx.Exec(ctx, "UPDATE orders SET status = 'paid' WHERE id = 42")
//	err = tx.Commit(ctx)
package pgxguard
