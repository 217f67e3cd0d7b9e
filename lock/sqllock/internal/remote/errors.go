package remote

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// askTime is the longest it may take to find out why a connection is bad.
const askTime = time.Second

// Explain says of a connection that a driver has given up that the server takes no writes, where that is so: a driver
// that is to leave such a server says no more than that the connection is bad.
func (s *Store) Explain(ctx context.Context, err error) error {
	bad := errors.Is(err, sqldriver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)
	if !bad || s.Dialect.ReadsOnly == nil || ctx.Err() != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	why, failed := s.Dialect.ReadsOnly(limit, s.DB)
	if failed != nil || why == "" {
		return err
	}
	return fmt.Errorf("%w: the server takes no writes, %s (%w)", driver.ErrUnavailable, why, sqldriver.ErrBadConn)
}
