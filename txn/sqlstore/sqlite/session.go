package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// session is a connection with the statements prepared on it. SQLite keeps a closed
// connection, and its files, open until the last of its statements is closed, so
// these end with it, whoever gives it up: who met an error, or database/sql.
type session struct {
	connection

	stmts statements
}

// connection is what database/sql asks the driver's connection for.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// Close implements [driver.Conn].
func (s *session) Close() error { return errors.Join(s.stmts.close(), s.connection.Close()) }

// connector makes sessions.
type connector struct{ driver.Connector }

func newConnector(source string) (connector, error) {
	c, err := sqlite.NewConnector(source)
	return connector{c}, err
}

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := conn.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("driver's connection %T lacks methods", conn), conn.Close())
	}
	return &session{connection: own}, nil
}
