package remote

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// patience is the longest a request may take that its caller has left.
const patience = 5 * time.Second

// underway is what goes on without its caller, until the store is closed.
type underway struct {
	life context.Context //nolint:containedctx // that of the store
	end  context.CancelFunc

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

func (u *underway) start() {
	u.life, u.end = context.WithCancel(context.Background())
}

// startRequest reports whether a request may begin.
func (u *underway) startRequest() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.work.Add(1)
	return true
}

// close ends what is under way, and waits for that.
func (u *underway) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.end()
	u.work.Wait()
}

// TriesAtOnce is how often a mutex is asked for by one statement that may not be enough: somebody may have had the lock
// and left it by the time that is looked for. A transaction decides, but has the row for several round trips, in which
// all others wait for it.
const TriesAtOnce = 3

// Finish makes a request that gives somebody something. The server does not stop when its connection is cut, so whoever
// leaves it must be told when it has ended: then nothing of it comes late. It is about a name.
func Finish[T any](
	ctx context.Context, s *Store, name string, request func(ctx context.Context) (T, error),
) (none T, err error) {
	if err := ctx.Err(); err != nil {
		return none, s.Unwritten(err)
	}
	if err := s.reach(ctx); err != nil {
		return none, err
	}
	inRoom, err := s.takeRoom(ctx, name)
	if err != nil {
		return none, err
	}
	if !s.underway.startRequest() {
		s.giveRoom(ctx)
		return none, fmt.Errorf("%w: closed", driver.ErrUnavailable)
	}
	return driver.Await(ctx, func() (T, error) {
		defer s.underway.work.Done()
		defer s.giveRoom(ctx)
		own, cancel := context.WithTimeout(context.WithoutCancel(inRoom), patience)
		defer cancel()
		defer context.AfterFunc(s.underway.life, cancel)()
		return request(own)
	})
}

// reach makes the first connection before anything is asked over it: who has none has asked for nothing, and leaves
// nothing behind that has to be waited for.
func (s *Store) reach(ctx context.Context) error {
	if s.reached.Load() {
		return nil
	}
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return s.Unwritten(err)
	}
	s.reached.Store(true)
	return conn.Close()
}
