// Package postgres keeps locks in rows of PostgreSQL, for programs that have a database anyway: see [New].
//
// # What holds
//
// Leases end by the database's clock, and tokens are in the row, so a lock is as durable as any row: a server that
// starts again has all of them. A standby that takes over has what it was sent: with asynchronous replication the
// newest grants may be unknown to it, and a lock may be had twice; guard what must not be written twice by the token.
// With synchronous_commit=off the same holds for a crash of the server; lock.Client.Check says so.
//
// # How it works
//
// A mutex takes one round trip to be had, one to be given back, and one for all that are renewed at a time, by primary
// key. Other kinds take a transaction that has the row of the name. No connection is kept by a lock.
//
// Who waits is told by NOTIFY, in the transaction of the release, and only if somebody waits. For that a client that
// waits keeps one connection of the pool, which listens, and is closed in the end, also where a pgxpool.Pool lies
// beneath: the pool should have two connections at least; with one, behind a pooler that lends connections by
// transaction, and with other drivers than pgx, who waits looks again and again instead.
//
// The tables bedrock_locks, bedrock_locks_holders and bedrock_locks_about are made when they are first needed. An
// account that may not do that is told the SQL, which [Schema] returns and [Migrate] runs.
//
// # Profiles
//
// [ShedLock] keeps mutexes in the table of ShedLock, a library for Java, which has them as well. The token is the time
// at which a lock was taken, by the database's clock; metadata has no place. Times are in UTC, and names as long as the
// table's column.
//
// [Advisory] keeps mutexes by advisory locks, in the session of one connection of the pool, which needs two: they are
// free at once when that ends. Its holder is told so within a second, in which somebody else may have the lock: guard
// what is written by the token, which is in the table bedrock_session_locks. What is not renewed in time is given back.
// A pooler that lends connections by the transaction is refused. It takes PostgreSQL 14 or newer.
//
// # Files
//
// options.go makes clients and postgres.go backends; session.go looks who is behind a connection; fast.go has the
// requests that are one statement; hub.go listens; check.go looks at the server's settings.
package postgres
