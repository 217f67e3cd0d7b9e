package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// session is a connection with the statements prepared on it. SQLite keeps a closed
// connection, and its files, open until the last of its statements is closed, so they end
// with it, whether a caller gives it up after an error or database/sql does.
type session struct {
	connection

	log   *logKeeper // nil unless it writes
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

// keepShort looks after the log before a transaction.
func (s *session) keepShort(ctx context.Context) error {
	if s.log == nil {
		return nil
	}
	return s.log.keepShort(ctx, s.connection)
}

// BeginTx implements [driver.ConnBeginTx].
func (s *session) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := s.keepShort(ctx); err != nil {
		return nil, err
	}
	return s.connection.BeginTx(ctx, opts)
}

// ExecContext implements [driver.ExecerContext].
func (s *session) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := s.keepShort(ctx); err != nil {
		return nil, err
	}
	return s.connection.ExecContext(ctx, query, args)
}

// connector makes sessions. Those with a logKeeper keep the log short.
type connector struct {
	driver.Connector

	log *logKeeper
}

func newConnector(source string, log *logKeeper) (connector, error) {
	c, err := sqlite.NewConnector(source)
	return connector{c, log}, err
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
	return &session{connection: own, log: c.log}, nil
}
