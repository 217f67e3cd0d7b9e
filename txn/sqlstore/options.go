package sqlstore

import (
	"fmt"
	"regexp"
	"time"

	"github.com/bedrock-go/bedrock/input"
)

// Options configure a store. The zero value and nil mean the defaults.
type Options struct {
	// Table holds the records; the version of its schema is kept in another one,
	// named the same with _schema behind. Lower-case letters, digits and
	// underscores. Defaults to bedrock_tx.
	Table string
	// NoMigrate leaves the schema alone; a store whose schema is not the one this
	// version needs is not opened. Migrate still works.
	NoMigrate bool
	// Writers is how many batches are written at once. Defaults to 2. SQLite has
	// one.
	Writers int
	// Timeout bounds one batch, from when its connection is asked for. Callers do
	// not wait for it longer than their contexts say. Defaults to 30 s, at least 1 ms;
	// -1: none.
	Timeout time.Duration
}

const (
	defaultTable   = "bedrock_tx"
	defaultWriters = 2
	defaultTimeout = 30 * time.Second
)

// tableName is what may stand in SQL unquoted. PostgreSQL cuts names of more
// than 63 bytes, and indexes are named after the table.
var tableName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)

// filled returns the options with their defaults.
func (o *Options) filled() (Options, error) {
	var own Options
	if o != nil {
		own = *o
	}
	if own.Table == "" {
		own.Table = defaultTable
	}
	if own.Writers == 0 {
		own.Writers = defaultWriters
	}
	if own.Timeout == 0 {
		own.Timeout = defaultTimeout
	}
	switch {
	case !tableName.MatchString(own.Table):
		problem := fmt.Sprintf("%q: want at most 40 lower-case letters, digits and underscores", own.Table)
		return own, &input.Error{Field: "table", Problem: problem}
	case own.Timeout < time.Millisecond && own.Timeout != -1: // 30 is 30 ns: no batch is ever written
		return own, input.Errorf("timeout", "%v: want 1ms or more, or -1", own.Timeout)
	case own.Writers < 0:
		return own, input.Errorf("writers", "%d: want at least 1", own.Writers)
	}
	return own, nil
}
