package lockurl

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bedrock-go/bedrock/internal/mysqlurl"
	"github.com/bedrock-go/bedrock/internal/serverurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/mysql"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

// database is a place in a database with a server.
type database struct {
	source string // as its driver wants it
	shown  string // without user name, password and parameters
	tables tables
	kind   databaseKind
}

// tables are those of locks in a database.
type tables struct {
	name string // empty: as usual
	kept keeping
	asIs bool // somebody else makes them
}

// keeping is how locks are kept.
type keeping uint8

const (
	leaseRows keeping = iota
	shedLock
	session
)

// databaseKind is what the databases do differently.
type databaseKind interface {
	// openPool returns a pool, which connects when it is used.
	openPool(source string) (*sql.DB, error)
	// port is what a URL without one means.
	port() string
	// session is what its locks of sessions are called.
	session() string
	// migrate makes the tables if there are none.
	migrate(ctx context.Context, db *sql.DB, t tables) error
	// backend returns one on a pool.
	backend(db *sql.DB, t tables, opts lock.Options) (driver.Backend, error)
}

// connections is how many a client has at most. Most requests go one after the other.
const (
	connections = 8
	idleInPool  = 20 * time.Second
)

// parseDatabase reads a URL whose parameters are those of the driver, but for ours.
func parseDatabase(kind databaseKind, scheme, text string) (*Location, error) {
	rest, found := strings.CutPrefix(text, scheme+"://")
	if !found {
		return nil, &Error{Part: "scheme", Problem: "must be followed by //: " + scheme + "://host/database"}
	}
	shown, query, _ := strings.Cut(rest, "?")
	credentials, where := "", shown
	if at := strings.LastIndexByte(shown, '@'); at >= 0 {
		credentials, where = shown[:at+1], shown[at+1:]
	}
	host, name, _ := strings.Cut(where, "/")
	switch {
	case host == "":
		return nil, &Error{Part: "host", Problem: "is missing: " + scheme + "://host/database"}
	case name == "" || strings.Contains(name, "/"):
		return nil, &Error{
			Part: "database", Problem: "is missing, or not a single name: " + scheme + "://host/database",
		}
	}
	d := &database{shown: scheme + "://" + where, kind: kind}
	l := &Location{place: d}
	parameters, err := l.liftOptions(d, query)
	if err != nil {
		return nil, err
	}
	d.source = scheme + "://" + credentials + where
	if parameters != "" {
		d.source += "?" + parameters
	}
	if _, err := url.Parse(d.source); err != nil {
		return nil, &Error{
			Part:    "user name, password, host or port",
			Problem: "is not written correctly; special characters are percent-encoded",
		}
	}
	return l, nil
}

// liftOptions takes our options out of a query. The rest is the driver's.
func (l *Location) liftOptions(d *database, query string) (rest string, err error) {
	ours := map[string]serverurl.Setter{
		"ttl": l.setTTL,
		"table": func(v string) string {
			d.tables.name = v
			return ""
		},
		"profile": func(v string) string {
			return setChoice(&d.tables.kept, v, []named[keeping]{
				{"rows", leaseRows}, {"shedlock", shedLock}, {d.kind.session(), session},
			})
		},
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		key, raw, _ := strings.Cut(pair, "=")
		set := ours[key]
		if set == nil {
			if pair != "" {
				kept = append(kept, pair)
			}
			continue
		}
		problem := "is not percent-encoded correctly"
		if value, err := url.QueryUnescape(raw); err == nil {
			problem = set(value)
		}
		if problem != "" {
			return "", &Error{Part: "option " + key, Problem: problem}
		}
	}
	return strings.Join(kept, "&"), nil
}

// String implements place.
func (d *database) String() string { return d.shown }

// TLS implements place: what a driver does when it is not told is its own.
func (d *database) TLS() bool { return false }

func (d *database) readFiles() error { return nil }

// makeTables implements tabular.
func (d *database) makeTables(ctx context.Context) error {
	db, err := d.kind.openPool(d.source)
	if err != nil {
		return err
	}
	return errors.Join(d.kind.migrate(ctx, db, d.tables), db.Close())
}

// leaveTables implements schematic.
func (d *database) leaveTables() { d.tables.asIs = true }

func (d *database) connect(opts lock.Options, _ use) (driver.Backend, func() error, error) {
	db, err := d.kind.openPool(d.source)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(idleInPool)
	backend, err := d.kind.backend(db, d.tables, opts)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return backend, db.Close, nil
}

// lends implements personal: the locks of a session go with its connection, and no other can renew them.
func (d *database) lends() error {
	if d.tables.kept != session {
		return nil
	}
	return &Error{
		Part: "option profile",
		Problem: "is " + d.kind.session() + ", for programs that have their locks themselves: those of a server " +
			"would end with its connection, while its clients have them",
	}
}

// onlyServer implements reachable. Parameters may have the driver check the server's name.
func (d *database) onlyServer() string {
	_, rest, _ := strings.Cut(d.shown, "://")
	host, _, _ := strings.Cut(rest, "/")
	if strings.Contains(host, ",") || strings.Contains(d.source, "verify") || strings.Contains(d.source, "tls=") {
		return ""
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		return net.JoinHostPort(strings.Trim(host, "[]"), d.kind.port())
	}
	return host
}

// standsAlone implements single.
func (d *database) standsAlone() string {
	if d.tables.kept == leaseRows {
		return ""
	}
	return "with a profile for locks that others have, too: they are no part of a lock of several"
}

// meets implements place.
func (d *database) meets(other place) string {
	if o, ok := other.(*database); ok && strings.EqualFold(d.shown, o.shown) && d.tables.name == o.tables.name {
		return d.shown
	}
	return ""
}

// postgresKind is PostgreSQL.
type postgresKind struct{}

func (postgresKind) openPool(source string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(source)
	if err != nil {
		return nil, &Error{Part: "parameters", Problem: "are not understood: " + err.Error()} // without the password
	}
	if _, given := config.RuntimeParams["client_encoding"]; !given {
		config.RuntimeParams["client_encoding"] = "UTF8" // whatever is set for the account
	}
	connector := stdlib.GetConnector(*config)
	if isOneServer(config) {
		addr := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
		connector = &namingConnector{Connector: connector, addr: addr, kind: "PostgreSQL"}
	}
	return sql.OpenDB(connector), nil
}

// isOneServer reports whether all ways of connecting lead to the same port. A host without a port is that of a socket.
func isOneServer(config *pgx.ConnConfig) bool {
	elsewhere := func(f *pgconn.FallbackConfig) bool { return f.Host != config.Host || f.Port != config.Port }
	return !strings.HasPrefix(config.Host, "/") && !slices.ContainsFunc(config.Fallbacks, elsewhere)
}

func (postgresKind) port() string { return "5432" }

func (postgresKind) session() string { return "advisory" }

func (postgresKind) profile(k keeping) postgres.Profile {
	return [...]postgres.Profile{postgres.LeaseRows, postgres.ShedLock, postgres.Advisory}[k]
}

func (k postgresKind) migrate(ctx context.Context, db *sql.DB, t tables) error {
	return postgres.Migrate(ctx, db, &postgres.Options{Profile: k.profile(t.kept), Table: t.name})
}

func (k postgresKind) backend(db *sql.DB, t tables, opts lock.Options) (driver.Backend, error) {
	return postgres.NewBackend(db, &postgres.Options{
		Lock: opts, Profile: k.profile(t.kept), Table: t.name, NoMigrate: t.asIs,
	})
}

// mysqlKind is MySQL, or MariaDB.
type mysqlKind struct{}

func (mysqlKind) openPool(source string) (*sql.DB, error) {
	config, err := mysqlurl.Parse(source)
	if err != nil {
		return nil, &Error{Part: "parameters", Problem: "are not understood: " + err.Error()}
	}
	limitSilence(config)
	config.InterpolateParams = true          // a round trip less for each statement
	config.RejectReadOnly = true             // leave a server that has become a replica
	config.Logger = &mysqldriver.NopLogger{} // what it would log is returned as well
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(&namingConnector{Connector: connector, addr: config.Addr, kind: "MySQL"}), nil
}

// limitSilence has the server end who is frozen amid a transaction, and keeps others from its rows, unless the URL says
// something else.
func limitSilence(config *mysqldriver.Config) {
	usual := map[string]string{
		"net_write_timeout": "5", "wait_timeout": "600 /*M! , idle_transaction_timeout = 5 */", // a comment to MySQL
	}
	if _, theirs := config.Params["idle_transaction_timeout"]; theirs {
		delete(usual, "wait_timeout")
	}
	maps.Copy(usual, config.Params)
	config.Params = usual
}

func (mysqlKind) port() string { return "3306" }

func (mysqlKind) session() string { return "named" }

func (mysqlKind) profile(k keeping) mysql.Profile {
	return [...]mysql.Profile{mysql.LeaseRows, mysql.ShedLock, mysql.NamedLocks}[k]
}

func (k mysqlKind) migrate(ctx context.Context, db *sql.DB, t tables) error {
	return mysql.Migrate(ctx, db, &mysql.Options{Profile: k.profile(t.kept), Table: t.name})
}

func (k mysqlKind) backend(db *sql.DB, t tables, opts lock.Options) (driver.Backend, error) {
	return mysql.NewBackend(db, &mysql.Options{
		Lock: opts, Profile: k.profile(t.kept), Table: t.name, NoMigrate: t.asIs,
	})
}
