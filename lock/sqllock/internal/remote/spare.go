package remote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// spareTime is how long to wait for one more connection of a pool. Those who have one for a request only give it back
// by then.
const spareTime = 2 * time.Second

// ErrNoSpare says that all connections of a pool are kept by somebody.
var ErrNoSpare = errors.New("all other connections of the pool are kept, and none would be left for requests")

// ErrNoneCame is [ErrNoSpare] of a pool that has room as far as package sql knows. A pool beneath has less, or the
// server is slow.
var ErrNoneCame = fmt.Errorf("%w: none came within %v", ErrNoSpare, spareTime)

// FindSpare sees to it that there is one more connection in the pool, beside those that are used at this moment:
// whoever keeps one must not keep the last. Others may keep some, too. It asks for one, whatever package sql counts:
// beneath there may be a pool with a limit of its own.
func (s *Store) FindSpare(ctx context.Context) error {
	now := s.DB.Stats()
	limit, cancel := context.WithTimeout(ctx, spareTime)
	defer cancel()
	conn, err := s.DB.Conn(limit)
	if err == nil {
		return conn.Close()
	}
	switch {
	case ctx.Err() != nil || limit.Err() == nil:
		return err
	case now.MaxOpenConnections > 0 && now.InUse >= now.MaxOpenConnections:
		return ErrNoSpare
	}
	return ErrNoneCame
}
