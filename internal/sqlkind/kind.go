// Package sqlkind knows what sets the kinds of SQL databases apart: how parameters are
// written, what their clock is, and what their errors mean. It imports no driver, so
// that whoever uses one database compiles one driver; a package that may import its
// driver takes the code out of an error for it.
package sqlkind

import (
	"strconv"
	"strings"
)

// Kind is a kind of database.
type Kind string

// The kinds of databases there are.
const (
	MySQL    Kind = "mysql" // and MariaDB
	Postgres Kind = "postgres"
	SQLite   Kind = "sqlite"
)

// Known reports whether there is such a kind.
func (k Kind) Known() bool { return k == MySQL || k == Postgres || k == SQLite }

// Place writes the parameters of a query, which are question marks here, in the way of
// the database. A question mark that is none has no place in a query.
func (k Kind) Place(query string) string {
	if k != Postgres {
		return query
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		query = after
	}
}

// Marks is a list of n parameters.
func Marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// Clock is the database's time in microseconds since 1970. It is taken from UTC, because
// an hour of the session's zone may come twice.
func (k Kind) Clock() string {
	switch k {
	case MySQL:
		return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
	case Postgres:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
	default: // it counts milliseconds
		return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
	}
}
