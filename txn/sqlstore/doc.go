// Package sqlstore keeps transactions in a table of an SQL database: SQLite,
// MySQL, MariaDB or PostgreSQL. It is what the three have in common; a program
// imports the one it uses:
//
//	store, err := sqlite.Open(ctx, "bedrock.db", nil)
//
// or
//
//	store, err := mysql.Open(ctx, "mysql://user:secret@db/app", nil)
//
// or
//
//	store, err := postgres.New(ctx, db, nil) // the *sql.DB you already have
//
// # Writes
//
// A commit costs the same for one row as for a hundred, so writes that meet share
// one. Each record belongs to one of a few writers. A writer takes what is
// queued, writes it as one transaction, and answers when that is durable; while
// it is at work the next batch gathers. Nobody waits for a batch to fill.
//
// Sharing has no part in the outcome. A writer that was overtaken is refused,
// its neighbours are not. A row the database will not take, being too large for
// it, is found by halving the batch until it stands alone. Who leaves early is
// told whether the write had begun; the batch goes on without him.
//
// # Times
//
// Times are microseconds since 1970 in plain integers, 0 for none: no database
// has an opinion on their zone. What is due is decided by the database's clock;
// SQLite has none but the machine's.
//
// # Schema
//
// Records are rows of one table, bedrock_tx. A second one, bedrock_tx_schema,
// says in which version; both are made and brought up to date when a store is
// opened, by one process at a time.
package sqlstore
