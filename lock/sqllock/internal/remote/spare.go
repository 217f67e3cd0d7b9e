package remote

import (
	"context"
	"errors"
	"time"
)

// spareTime is how long to wait for one more connection of a pool. Those who have one for a request only give it back
// by then.
const spareTime = 2 * time.Second

// ErrNoSpare says that all connections of a pool are kept by somebody.
var ErrNoSpare = errors.New("all other connections of the pool are kept, and none would be left for requests")

// FindSpare sees to it that there is one more connection in the pool, beside those that are used at this moment:
// whoever keeps one must not keep the last. Others may keep some, too.
func (s *Store) FindSpare(ctx context.Context) error {
	now := s.DB.Stats()
	if now.MaxOpenConnections == 0 || now.InUse < now.MaxOpenConnections {
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, spareTime)
	defer cancel()
	conn, err := s.DB.Conn(limit)
	if err == nil {
		return conn.Close()
	}
	if ctx.Err() == nil && limit.Err() != nil {
		return ErrNoSpare
	}
	return err
}
