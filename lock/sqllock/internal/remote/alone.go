package remote

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// cleanUpTime is the longest that is waited, in the end, until the server knows what nobody waits for any more. Where
// the network is cut it is never told.
const cleanUpTime = 700 * time.Millisecond

// RunAlone has something run a statement that is its own transaction. The server carries it out although its caller has
// left, unless it is told not to: a driver that does so in the background must have come so far before the process
// ends.
func (s *Store) RunAlone(ctx context.Context, do func(rows.Querier) error) error {
	if s.Dialect.CleanUp == nil {
		return do(s.Querier())
	}
	for tries := 1; ; tries++ {
		conn, err := s.DB.Conn(ctx)
		if err != nil {
			return s.Unwritten(err)
		}
		if err = do(conn); err != nil {
			_ = conn.Raw(func(c any) error { // which may have gone
				s.NoteLeftover(c)
				return nil
			})
		}
		_ = conn.Close()                                              // it goes back to the pool
		if !errors.Is(err, driver.ErrBadConn) || tries == mostStale { // nothing of it was sent
			return err
		}
	}
}

// NoteLeftover has the end of the store wait for what the driver still does about a connection of its own.
func (s *Store) NoteLeftover(driverConn any) {
	if s.Dialect.CleanUp != nil {
		s.leftover.add(s.Dialect.CleanUp(driverConn))
	}
}

// leftover is what drivers still do about connections that were given up.
type leftover struct {
	mu  sync.Mutex
	all []<-chan struct{} // each is closed when that is done
}

func (l *leftover) add(done <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, isClosed)
	if done != nil {
		l.all = append(l.all, done)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// waitDone waits until all is done, or for as long as it may take.
func (l *leftover) waitDone() {
	l.mu.Lock()
	all := slices.Clone(l.all)
	l.mu.Unlock()
	limit := time.After(cleanUpTime)
	for _, done := range all {
		select {
		case <-done:
		case <-limit:
			return
		}
	}
}
