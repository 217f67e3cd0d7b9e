package barrier

import "github.com/bedrock-go/bedrock/internal/sqlkind"

// Dialect is the SQL a database speaks.
type Dialect string

// The databases a barrier can be kept in.
const (
	MySQL    = Dialect(sqlkind.MySQL) // and MariaDB
	Postgres = Dialect(sqlkind.Postgres)
	SQLite   = Dialect(sqlkind.SQLite)
)

func (d Dialect) kind() sqlkind.Kind { return sqlkind.Kind(d) }

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
