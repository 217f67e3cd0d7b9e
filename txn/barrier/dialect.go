package barrier

import (
	"strconv"
	"strings"
)

// Dialect is the SQL a database speaks.
type Dialect string

// The databases a barrier can be kept in.
const (
	MySQL    Dialect = "mysql" // and MariaDB
	Postgres Dialect = "postgres"
	SQLite   Dialect = "sqlite"
)

// place writes the placeholders of a query, which are question marks here, in the
// dialect's way.
func (d Dialect) place(query string) string {
	if d != Postgres {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}

// insertIgnore frames an insertion that does nothing when the key is taken. It
// waits while the row with that key belongs to a transaction that is still open.
func (d Dialect) insertIgnore(into string) string {
	if d == MySQL {
		return "INSERT IGNORE INTO " + into
	}
	return "INSERT INTO " + into + " ON CONFLICT DO NOTHING"
}

// readLatest makes a SELECT see what is committed now. MySQL's plain SELECT shows
// the state at the first one of the transaction, which may be of before the wait
// for the row.
func (d Dialect) readLatest(query string) string {
	if d == MySQL {
		return query + " LOCK IN SHARE MODE"
	}
	return query
}

// clock is the database's time in microseconds since 1970, whatever the time zone
// of the session.
func (d Dialect) clock() string {
	switch d {
	case MySQL:
		return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
	case Postgres:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
	default:
		return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
	}
}
