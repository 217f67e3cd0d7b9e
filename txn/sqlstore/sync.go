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

// Syncer is a [Dialect] whose commits are not durable by themselves. Nobody hears of a
// write before it is durable: its answer waits for that, and so does a read that may have
// seen it. Meanwhile the next batch is written, so that a database that writes one
// transaction after the other does not stand still for the disk in between.
type Syncer interface {
	// Sync makes durable what was committed before the call. After an error what was
	// to become durable may be lost.
	Sync() error
}

// syncer makes commits durable, all that are waiting together. It is nil for dialects whose
// commits are durable by themselves.
type syncer struct {
	sync   func() error
	loose  atomic.Int64 // commits that can be seen, or are about to be, and are not durable
	failed atomic.Pointer[unsynced]
	wake   chan struct{}
	quit   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	waiting []func(error)
	over    bool
}

// unsynced is why the database cannot be relied on any more: a disk may forget what it has
// failed to write once, and report success the next time.
type unsynced struct{ error }

func (e unsynced) Unwrap() error { return e.error }

// Unsynced marks an error of a [Syncer] that comes before something is written, and means
// what an error of Sync means.
func Unsynced(err error) error {
	if err == nil {
		return nil
	}
	return unsynced{err}
}

func startSyncer(d Dialect) *syncer {
	dialect, ok := d.(Syncer)
	if !ok {
		return nil
	}
	s := &syncer{
		sync: dialect.Sync, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go s.run()
	return s
}

// run syncs until no writer is left.
func (s *syncer) run() {
	defer close(s.done)
	for {
		select {
		case <-s.wake:
			s.syncOnce(false)
		case <-s.quit:
			s.syncOnce(true)
			return
		}
	}
}

// syncOnce makes durable what was committed until now, and tells those who wait.
func (s *syncer) syncOnce(last bool) {
	s.mu.Lock()
	waiting := s.waiting
	s.waiting, s.over = nil, last
	s.mu.Unlock()
	if len(waiting) == 0 {
		return
	}
	err := s.sync()
	if err != nil {
		err = s.markFailed(err)
	}
	for _, tell := range waiting {
		tell(err)
	}
}

// markFailed remembers why the database cannot be relied on.
func (s *syncer) markFailed(err error) error {
	err = fmt.Errorf("not known to be on the disk: %w", err)
	s.failed.CompareAndSwap(nil, &unsynced{err})
	return err
}

// stop ends the syncer, once what was committed is durable.
func (s *syncer) stop() {
	if s != nil {
		close(s.quit)
		<-s.done
	}
}

// announceCommit announces a commit, which is refused if an earlier one has not become durable.
func (s *syncer) announceCommit() error {
	if s == nil {
		return nil
	}
	if err := s.reliable(); err != nil {
		return Unwritten(err)
	}
	s.loose.Add(1)
	return nil
}

// reliable returns why the database cannot be relied on; nil if it can.
func (s *syncer) reliable() error {
	if s == nil {
		return nil
	}
	if f := s.failed.Load(); f != nil {
		return fmt.Errorf("%w until it is opened again: an earlier write is %w", driver.ErrUnavailable, f.error)
	}
	return nil
}

// withdrawCommit takes back the announcement of a commit that was not made, and says why.
func (s *syncer) withdrawCommit(err error) error {
	if s == nil {
		return err
	}
	s.loose.Add(-1)
	if failed, ok := errors.AsType[unsynced](err); ok {
		_ = s.markFailed(failed.error)
		return Unwritten(s.reliable())
	}
	return err
}

// whenCommitSynced calls tell when the commit that was announced, and made, is durable.
func (s *syncer) whenCommitSynced(tell func(error)) {
	if s == nil {
		tell(nil)
		return
	}
	s.whenSynced(func(err error) {
		s.loose.Add(-1)
		tell(err)
	})
}

// errUnsynced says of a commit that it is made, and may be undone by a loss of power.
var errUnsynced = errors.New("store was closed before the disk had it")

// whenSynced calls tell when all that was committed until now is durable.
func (s *syncer) whenSynced(tell func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		tell(errUnsynced)
		return
	}
	s.waiting = append(s.waiting, tell)
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// durably makes a commit and waits until it is durable. A commit without an answer may have
// been made, as with a batch, so reads that see it have to wait, too.
func (s *syncer) durably(ctx context.Context, commit func() error) error {
	if s == nil {
		return commit()
	}
	if err := s.announceCommit(); err != nil {
		return err
	}
	err := commit()
	if isUnwritten(err) {
		return s.withdrawCommit(err)
	}
	return cmp.Or(err, waitTold(ctx, s.whenCommitSynced))
}

// waitSynced waits until what a read may have seen is durable.
func (s *syncer) waitSynced(ctx context.Context) error {
	if s == nil {
		return nil
	}
	if s.loose.Load() == 0 {
		return s.reliable()
	}
	return waitTold(ctx, s.whenSynced)
}

// waitTold waits until the function that it gives to register is called, or ctx ends.
func waitTold(ctx context.Context, register func(tell func(error))) error {
	told := make(chan error, 1)
	register(func(err error) { told <- err })
	select {
	case err := <-told:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
