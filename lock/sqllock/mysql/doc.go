// Package mysql keeps locks in rows of MySQL or MariaDB, for programs that have a database anyway: see [New].
//
// # What holds
//
// Leases end by the database's clock in UTC, whatever the session's time zone, and tokens are in the row, so a lock is
// as durable as any row: a server that starts again has all of them. A replica that takes over has what it was sent:
// with asynchronous replication the newest grants may be unknown to it, and a lock may be had twice; guard what must
// not be written twice by the token. Names are compared byte by byte, whatever the collation.
//
// # How it works
//
// A mutex that is free takes one round trip to be had, one to be given back, and one to be renewed, each a statement
// about one row by its primary key: no gap is locked, and contenders never deadlock. Other kinds take a transaction
// that has the row of the name. No connection is kept by a lock. Where autocommit is off all is done in transactions.
//
// The database tells of nothing, so who waits asks again and again, after 1 ms at first, and after 100 ms at most.
//
// The tables bedrock_locks, bedrock_locks_holders and bedrock_locks_about are made when they are first needed. An
// account that may not do that is told the SQL, which [Schema] returns and [Migrate] runs.
//
// A client that falls silent in the middle of a transaction would keep others from a row for as long as its connection
// lives. MariaDB ends it with idle_transaction_timeout=5 among the parameters of the connection.
//
// # Profiles
//
// [ShedLock] keeps mutexes in the table of ShedLock, a library for Java, which has them as well. The token is the time
// at which a lock was taken, by the database's clock; metadata has no place. Names are as long as the table's column,
// and what its collation takes for the same is refused. Columns of the type TIMESTAMP need sessions in UTC, on both
// sides.
//
// [NamedLocks] keeps mutexes by GET_LOCK, in the session of one connection of the pool, which needs two: they are free
// at once when that ends. Its holder is told so within a second, in which somebody else may have the lock: guard what
// is written by the token, which is in the table bedrock_session_locks. What is not renewed in time is given back. It
// takes MySQL 5.7, or MariaDB 10.0.2, or newer, and a single server: locks are not replicated.
//
// # Files
//
// options.go makes clients and mysql.go backends; fast.go has the requests that are one statement; check.go looks at
// the server's settings.
package mysql
