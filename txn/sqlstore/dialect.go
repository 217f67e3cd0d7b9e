package sqlstore

import (
	"context"
	"database/sql"
	"io/fs"
	"time"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Dialect is what sets one kind of database apart. Its methods may be called by
// many goroutines at once.
//
// The packages below this one have those that there are. Another kind of database has to be
// known to Bedrock itself, by its Kind; a store that is altogether one's own implements
// [driver.Store].
type Dialect interface {
	// Clauses is the SQL that differs.
	Clauses() Clauses

	// Now reads the clock that due times are compared with.
	Now(ctx context.Context, q Querier) (time.Time, error)

	// Write applies a batch as one transaction that is durable when it returns. It
	// names the records refused: those to create that exist, and those to update
	// that have another version. An error made by [Unwritten] says that nothing was
	// written; any other leaves that open.
	Write(ctx context.Context, table string, b Batch) (refused []string, err error)

	// Alone runs fn while nobody else who calls Alone for this table does.
	Alone(ctx context.Context, table string, fn func(Querier) error) error

	// Migrations are files of SQL, named so that they sort in the order of the
	// versions they lead to, from 1. They call the table bedrock_tx.
	Migrations() fs.FS

	// Judge says what an error of the database means.
	Judge(err error) Verdict
}

// Clauses is SQL in one dialect.
type Clauses struct {
	// Kind is the kind of database, and what errors call it.
	Kind sqlkind.Kind
	// IfAbsent ends an INSERT that does nothing when the ID is taken. Where there is
	// none, the INSERT fails and Judge says Duplicate.
	IfAbsent string
	// SkipLocked ends a SELECT that locks what it finds and passes over what others
	// have locked.
	SkipLocked string
	// Claiming begins the transaction of a claim, which takes several round trips. It has
	// the server end that transaction when its client falls silent, and gives the planner
	// the hints that it needs. Empty where neither is needed.
	Claiming string
	// ByStatus follows the table where its rows are wanted in the order of the index
	// by status, for planners that need to be told.
	ByStatus string
	// ByDue does the same for the index by due time, ByTarget for the one by the target
	// that is waited for.
	ByDue, ByTarget string
}

// Querier is a database, a connection or a transaction.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Batch is what one transaction writes. No ID occurs in it twice.
type Batch struct {
	Creates []*driver.Record
	Updates []Update
}

// Update replaces a record if the one stored has the version Was. The record's
// revision is the one after that. Its Spec is left alone when it is nil.
type Update struct {
	Was driver.Version
	*driver.Record
}

// Verdict is what an error means for the call that failed.
type Verdict = sqlkind.Class

// The verdicts; see package sqlkind.
const (
	// Refused means that the database, or its driver, does not take the call as it is.
	Refused = sqlkind.Refused
	// Duplicate means that the ID is taken.
	Duplicate = sqlkind.Duplicate
	// Deadlocked means that the transaction was rolled back so that others can go on; it
	// may be repeated.
	Deadlocked = sqlkind.Deadlocked
	// Busy means that it has met one that took too long; it may be repeated.
	Busy = sqlkind.Busy
	// Broken means that the connection could not be made, or ended, or that nothing is
	// written for a while.
	Broken = sqlkind.Broken
	// TooLarge means that the database takes nothing of this size.
	TooLarge = sqlkind.TooLarge
)
