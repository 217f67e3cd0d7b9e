package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Settler is a [Dialect] whose commits are not durable by themselves. Nobody hears
// of what they wrote before it is: the answer to a write waits for that, and so
// does a read that may have seen it. Meanwhile the next batch is written, so that a
// database that writes one transaction after the other does not stand still for the
// disk in between.
type Settler interface {
	// Settle makes durable what was committed before the call. After an error what was
	// to become durable may be lost.
	Settle() error
}

// settling makes commits durable, all that there are at once. A nil settling is for
// dialects whose commits are durable.
type settling struct {
	settle func() error
	loose  atomic.Int64 // commits that can be seen, or are about to be, and are not durable
	failed atomic.Pointer[unsettled]
	wake   chan struct{}
	quit   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	waiting []func(error)
	over    bool
}

// unsettled is why the database cannot be relied on any more: what a disk has failed
// to write once it may forget, and report success the next time.
type unsettled struct{ error }

func (e unsettled) Unwrap() error { return e.error }

// Unsettled marks an error of a [Settler] that says, before something is written, what
// an error of Settle would.
func Unsettled(err error) error {
	if err == nil {
		return nil
	}
	return unsettled{err}
}

func startSettling(d Dialect) *settling {
	settler, ok := d.(Settler)
	if !ok {
		return nil
	}
	s := &settling{
		settle: settler.Settle, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go s.run()
	return s
}

// run ends when there is nobody left who writes.
func (s *settling) run() {
	defer close(s.done)
	for {
		select {
		case <-s.wake:
			s.round(false)
		case <-s.quit:
			s.round(true)
			return
		}
	}
}

// round makes durable what was committed until now, and tells those who wait.
func (s *settling) round(last bool) {
	s.mu.Lock()
	waiting := s.waiting
	s.waiting, s.over = nil, last
	s.mu.Unlock()
	if len(waiting) == 0 {
		return
	}
	err := s.settle()
	if err != nil {
		err = s.fail(err)
	}
	for _, tell := range waiting {
		tell(err)
	}
}

// fail remembers why the database cannot be relied on.
func (s *settling) fail(err error) error {
	err = fmt.Errorf("not known to be on the disk: %w", err)
	s.failed.CompareAndSwap(nil, &unsettled{err})
	return err
}

// stop ends it, when what there is has settled.
func (s *settling) stop() {
	if s != nil {
		close(s.quit)
		<-s.done
	}
}

// commit announces a commit, which is refused if an earlier one has not settled.
func (s *settling) commit() error {
	if s == nil {
		return nil
	}
	if err := s.reliable(); err != nil {
		return Unwritten(err)
	}
	s.loose.Add(1)
	return nil
}

// reliable says why the database cannot be relied on, if it cannot.
func (s *settling) reliable() error {
	if s == nil {
		return nil
	}
	if f := s.failed.Load(); f != nil {
		return fmt.Errorf("%w until it is opened again: an earlier write is %w", driver.ErrUnavailable, f.error)
	}
	return nil
}

// abandon takes back the announcement of a commit that was not made, and says why.
func (s *settling) abandon(err error) error {
	if s == nil {
		return err
	}
	s.loose.Add(-1)
	if failed, ok := errors.AsType[unsettled](err); ok {
		_ = s.fail(failed.error)
		return Unwritten(s.reliable())
	}
	return err
}

// settled tells when the commit announced, which was made, is durable.
func (s *settling) settled(tell func(error)) {
	if s == nil {
		tell(nil)
		return
	}
	s.join(func(err error) {
		s.loose.Add(-1)
		tell(err)
	})
}

// errUnsettled says of a commit that it is made, and may be undone by a loss of power.
var errUnsettled = errors.New("store was closed before the disk had it")

// join has somebody told when all that was committed until now is durable.
func (s *settling) join(tell func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		tell(errUnsettled)
		return
	}
	s.waiting = append(s.waiting, tell)
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// durably makes a commit and waits until it is durable. Like that of a batch, a commit
// that has no answer may be there: whoever reads it has to wait, too.
func (s *settling) durably(ctx context.Context, commit func() error) error {
	if s == nil {
		return commit()
	}
	if err := s.commit(); err != nil {
		return err
	}
	err := commit()
	if isUnwritten(err) {
		return s.abandon(err)
	}
	return cmp.Or(err, told(ctx, s.settled))
}

// seen waits until what a read may have seen is durable.
func (s *settling) seen(ctx context.Context) error {
	if s == nil {
		return nil
	}
	if s.loose.Load() == 0 {
		return s.reliable()
	}
	return told(ctx, s.join)
}

// told waits to be told.
func told(ctx context.Context, ask func(tell func(error))) error {
	answer := make(chan error, 1)
	ask(func(err error) { answer <- err })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
