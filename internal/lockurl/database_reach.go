package lockurl

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// namingConnector makes the connections to one server. Where that fails on the way it says so by the address, and what
// is the matter, in place of what a driver makes of the answers of another kind of server.
type namingConnector struct {
	driver.Connector

	addr, kind string
}

// Connect implements [driver.Connector].
func (c *namingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err == nil || errors.Is(err, context.Canceled) {
		return conn, err
	}
	if text := c.whyUnreached(err); text != "" {
		err = &unreachedError{text, err}
	}
	return nil, err
}

// whyUnreached is why there is no connection; empty where the driver's words are the best there are, as those of a
// server that refuses.
func (c *namingConnector) whyUnreached(err error) string {
	_, ofPostgres := errors.AsType[*pgconn.PgError](err)
	_, ofMySQL := errors.AsType[*mysqldriver.MySQLError](err)
	dial, dialing := errors.AsType[*net.OpError](err)
	switch {
	case ofPostgres || ofMySQL:
		return ""
	case isTimeout(err):
		return fmt.Sprintf("%s does not answer: it hangs, or is no server of %s", c.addr, c.kind)
	case dialing && dial.Op == "dial":
		return dial.Error()
	case isForeign(err):
		return fmt.Sprintf("%s does not speak %s's protocol", c.addr, c.kind)
	case isOneOf(err, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, mysqldriver.ErrInvalidConn):
		return fmt.Sprintf("%s closes the connection: it is no server of %s, or takes no clients now", c.addr, c.kind)
	}
	return ""
}

func isTimeout(err error) bool {
	timed, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && timed.Timeout() || pgconn.Timeout(err)
}

// isForeign reports whether what a server says is nothing that one of this kind does. One of the drivers says so in
// words alone.
func isForeign(err error) bool {
	text := err.Error()
	return isOneOf(err,
		mysqldriver.ErrMalformPkt, mysqldriver.ErrPktSync, mysqldriver.ErrPktSyncMul, mysqldriver.ErrOldProtocol,
	) || strings.Contains(text, "received unexpected message") || strings.Contains(text, "unknown message type") ||
		strings.Contains(text, "unsupported protocol version")
}

func isOneOf(err error, those ...error) bool {
	return slices.ContainsFunc(those, func(one error) bool { return errors.Is(err, one) })
}

// unreachedError is why there is no connection: nothing was asked. It is all that the driver's is, but for the end of a
// context: whose that was does not matter to who asks why.
type unreachedError struct {
	text string
	err  error
}

// Error implements error.
func (e *unreachedError) Error() string { return e.text }

// Timeout implements [net.Error].
func (e *unreachedError) Timeout() bool { return isTimeout(e.err) }

// Temporary implements [net.Error].
func (e *unreachedError) Temporary() bool { return true }

// Is reports whether the driver's error is target, which is not the end of a context.
func (e *unreachedError) Is(target error) bool {
	return !isOneOf(target, context.DeadlineExceeded, context.Canceled) && errors.Is(e.err, target)
}

// As finds what the driver's error is.
func (e *unreachedError) As(target any) bool { return errors.As(e.err, target) }
