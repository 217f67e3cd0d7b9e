// Package postgres keeps transactions in PostgreSQL, 12 or later, where several
// replicas of a coordinator share them:
//
//	store, err := postgres.Open(ctx, "postgres://user:secret@db/app", nil)
//
// A pooler in between must keep a session for a transaction, as they all can. What
// a process has locked that is frozen amid a write is free again after 5 s.
package postgres
