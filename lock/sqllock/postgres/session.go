package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
)

// verifySession refuses a connection behind which there is a pooler: it lends the same session to others, who would
// have the same locks, and takes the session away. It tells by the number of the server's process, of which a client is
// told when it connects, and which the process says itself.
func verifySession(ctx context.Context, conn *sql.Conn) error {
	var pid uint32
	if err := conn.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return err
	}
	return conn.Raw(func(c any) error {
		own, ok := c.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("%w: %T is no connection of pgx, which tells whose session it has",
				lockdriver.ErrUnsupported, c)
		}
		if own.Conn().PgConn().PID() != pid {
			return fmt.Errorf("%w: there is a pooler on the way, which lends the session to others: locks of a "+
				"session would be had twice", lockdriver.ErrUnsupported)
		}
		return nil
	})
}

// cutTime is how long it may take to tell the server that a connection ends, which is closed even if that fails.
const cutTime = time.Second

// cutConn closes a connection of pgx: what the server has of its session is for nobody else. If it is one of a
// [github.com/jackc/pgx/v5/pgxpool.Pool], package sql gives it back as it is, also when it is told that it is bad.
func cutConn(driverConn any) {
	own, ok := driverConn.(*stdlib.Conn)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cutTime)
	defer cancel()
	_ = own.Conn().Close(ctx)
}

// cleanUp returns what is closed when the server has been told of a connection that was given up amid a statement, and
// has ended it. pgx does that in the background.
func cleanUp(driverConn any) <-chan struct{} {
	own, ok := driverConn.(*stdlib.Conn)
	if !ok || !own.Conn().PgConn().IsClosed() {
		return nil
	}
	return own.Conn().PgConn().CleanupDone()
}
