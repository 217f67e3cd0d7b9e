package sqlguard

import "github.com/bedrock-go/bedrock/internal/sqlkind"

// Dialect is the SQL a database speaks.
type Dialect string

// The databases that data can be in.
const (
	MySQL    = Dialect(sqlkind.MySQL) // and MariaDB
	Postgres = Dialect(sqlkind.Postgres)
	SQLite   = Dialect(sqlkind.SQLite)
)

func (d Dialect) kind() sqlkind.Kind { return sqlkind.Kind(d) }
