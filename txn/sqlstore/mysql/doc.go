// Package mysql keeps transactions in MySQL (8.0 or later) or MariaDB (10.6 or
// later), where several replicas of a coordinator share them:
//
//	store, err := mysql.Open(ctx, "mysql://user:secret@db/app", nil)
//
// All columns of text are binary, so that no collation decides which transactions
// are the same. Every transaction is at READ COMMITTED.
// What a process has locked that is frozen amid a write is free again after 5 s
// with MariaDB, and 30 s with MySQL.
package mysql
