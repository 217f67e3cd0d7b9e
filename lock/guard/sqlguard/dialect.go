package sqlguard

import (
	"database/sql"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
)

// Dialect is the SQL a database speaks.
type Dialect string

// The databases that data can be in.
const (
	MySQL    = Dialect(sqlkind.MySQL) // and MariaDB
	Postgres = Dialect(sqlkind.Postgres)
	SQLite   = Dialect(sqlkind.SQLite)
)

func (d Dialect) kind() sqlkind.Kind { return sqlkind.Kind(d) }

// announcing is how a transaction begins that does nothing but announce a ticket. It reads nothing that a snapshot
// would have to keep, and so PostgreSQL need not end it because others were faster, whatever the default is. MySQL
// does not at any level, and may refuse to write at this one, where it logs statements.
func (d Dialect) announcing() *sql.TxOptions {
	if d == Postgres {
		return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	}
	return nil
}
