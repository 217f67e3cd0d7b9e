package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/bedrock-go/bedrock/internal/mysqlurl"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// Options configure a store.
type Options = sqlstore.Options

// connections is how many a store has of its own. Writers and reads share them.
const connections = 16

// What the server does for those who wait for somebody that is frozen: MariaDB
// ends a transaction whose client says nothing for silentInTx. MySQL only ends a
// whole session, after silentAtAll; the pool closes it before. Both end one whose
// client does not take what they have for it.
const (
	silentInTx  = 5 * time.Second
	silentAtAll = 30 * time.Second
	idleInPool  = 20 * time.Second
	deaf        = 5 * time.Second
)

// Open opens a store in a database, with connections of its own. The source is a
// URL such as mysql://user:secret@host:3306/database?tls=true, whose parameters
// are those of github.com/go-sql-driver/mysql, or a DSN of that driver. Several
// statements go out in one packet; behind a proxy that takes no such, writes are
// slower.
func Open(ctx context.Context, source string, opts *Options) (*sqlstore.Store, error) {
	config, err := mysqlurl.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("mysql: %w", err)
	}
	connector, err := mysql.NewConnector(tuned(config))
	if err != nil {
		return nil, fmt.Errorf("mysql: options of the connection: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(idleInPool)
	return sqlstore.Open(
		ctx, &dialect{db: db, packets: true}, sqlstore.Databases{Write: db, Read: db, Close: db.Close}, opts,
	)
}

// New opens a store in a database the program has already, and leaves it open. It
// asks for nothing unusual of the connections, and takes some round trips per batch;
// interpolateParams=true among their parameters saves half of them.
//
// So that others can take over when the program is frozen amid a write, have the
// server end what is: by net_write_timeout=5 and idle_transaction_timeout=5 among
// the parameters with MariaDB, by net_write_timeout=5 and wait_timeout=30 with
// MySQL, and less than that by [sql.DB.SetConnMaxIdleTime]. With rejectReadOnly=true
// connections do not stay with a server that a fail-over has made a replica.
func New(ctx context.Context, db *sql.DB, opts *Options) (*sqlstore.Store, error) {
	return sqlstore.Open(ctx, &dialect{db: db}, sqlstore.Databases{Write: db, Read: db}, opts)
}

func seconds(d time.Duration) int { return int(d / time.Second) }

// tuned sets what a store relies on or gains from.
func tuned(config *mysql.Config) *mysql.Config {
	config.InterpolateParams, config.MultiStatements = true, true
	config.MaxAllowedPacket = 0 // ask the server, and refuse what it would not take
	config.ParseTime = false
	config.RejectReadOnly = true       // leave a server that has become a replica; its name may lead to another
	config.Logger = &mysql.NopLogger{} // what it would log is returned as well
	if config.Params == nil {
		config.Params = make(map[string]string)
	}
	// Nothing is cut off silently, whatever the server's default.
	config.Params["sql_mode"] = "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'" +
		fmt.Sprintf(" /*M! , idle_transaction_timeout = %d */", seconds(silentInTx)) // a comment to MySQL
	config.Params["wait_timeout"] = strconv.Itoa(seconds(silentAtAll))
	config.Params["net_write_timeout"] = strconv.Itoa(seconds(deaf))
	return config
}
