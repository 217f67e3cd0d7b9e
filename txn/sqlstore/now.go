package sqlstore

import (
	"context"
	"time"
)

// Now implements [driver.Store].
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.whileAlive(ctx, "read the clock", func(ctx context.Context) (err error) {
		now, err = s.dialect.Now(ctx, s.db.Read)
		return Unwritten(err)
	})
	return now, err
}
