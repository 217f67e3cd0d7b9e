package subject

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/latch"
	"github.com/bedrock-go/bedrock/lock/multi"
)

var _ Latches = (*bedrockLocker)(nil)

// Latch implements Latches.
func (l *bedrockLocker) Latch(name string) Latch { return latch.New(l.client, name, nil) }

// readWrite has locks of Bedrock's that many may have to read.
func readWrite(s Subject) Subject {
	s.Kind = ReadWrite
	return through(s, func(b *bedrockLocker) Locker { return readWriteLocker{b} })
}

// permits has semaphores of Bedrock's.
func permits(s Subject) Subject {
	s.Kind = Permits
	return each(s, func(c *lock.Client, name string) Mutex {
		return &leasedMutex{of: c.Semaphore(name, PermitCount, nil)}
	})
}

// oneStep has two mutexes of Bedrock's at once.
func oneStep(s Subject) Subject {
	s.Kind, s.Role = TwoNames, Made
	return each(s, func(c *lock.Client, name string) Mutex {
		return &multiMutex{of: multi.New([]lock.Lockable{c.Mutex(name+"/1", nil), c.Mutex(name+"/2", nil)}, nil)}
	})
}

// inTurn has two mutexes of Bedrock's one after the other.
func inTurn(s Subject) Subject {
	s.Kind = TwoNames
	return each(s, func(c *lock.Client, name string) Mutex {
		return &turnMutex{
			first: leasedMutex{of: c.Mutex(name+"/1", nil)}, second: leasedMutex{of: c.Mutex(name+"/2", nil)},
		}
	})
}

// elections has those who lock be elected.
func elections(s Subject) Subject {
	s.Kind, s.Role = Leadership, Made
	return each(s, func(c *lock.Client, name string) Mutex { return &termMutex{of: election.New(c, name, nil)} })
}

// each has make make the mutexes of one of Bedrock's subjects.
func each(s Subject, make func(c *lock.Client, name string) Mutex) Subject {
	return through(s, func(b *bedrockLocker) Locker { return otherLocker{b, make} })
}

// through changes the locker of one of Bedrock's subjects.
func through(s Subject, change func(*bedrockLocker) Locker) Subject {
	open := s.Open
	s.Open = func(ctx context.Context, at Site, lease time.Duration) (Locker, error) {
		l, err := open(ctx, at, lease)
		if b, ok := l.(*bedrockLocker); ok {
			return change(b), err
		}
		return l, err
	}
	return s
}

// otherLocker makes something else than mutexes.
type otherLocker struct {
	*bedrockLocker

	make func(c *lock.Client, name string) Mutex
}

// Mutex implements Locker.
func (l otherLocker) Mutex(name string) Mutex { return l.make(l.client, name) }

// readWriteLocker makes locks that many may have to read.
type readWriteLocker struct{ *bedrockLocker }

// Mutex implements Locker.
func (l readWriteLocker) Mutex(name string) Mutex {
	return &leasedMutex{of: l.client.RWMutex(name, nil).Writer()}
}

// Reader implements ReadWriter.
func (l readWriteLocker) Reader(name string) Mutex {
	return &leasedMutex{of: l.client.RWMutex(name, nil).Reader()}
}

// leasedMutex is whatever can be locked.
type leasedMutex struct {
	of    lock.Lockable
	lease *lock.Lease
}

// Lock implements Mutex.
func (m *leasedMutex) Lock(ctx context.Context) (err error) {
	m.lease, err = m.of.Lock(ctx)
	return err
}

// Unlock implements Mutex.
func (m *leasedMutex) Unlock(ctx context.Context) error { return m.lease.Unlock(ctx) }

// multiMutex is several locks in one.
type multiMutex struct {
	of    *multi.Multi
	lease *multi.Lease
}

// Lock implements Mutex.
func (m *multiMutex) Lock(ctx context.Context) (err error) {
	m.lease, err = m.of.Lock(ctx)
	return err
}

// Unlock implements Mutex.
func (m *multiMutex) Unlock(ctx context.Context) error { return m.lease.Unlock(ctx) }

// turnMutex is two locks, as those have them who do without package multi.
type turnMutex struct{ first, second leasedMutex }

// Lock implements Mutex.
func (m *turnMutex) Lock(ctx context.Context) error {
	if err := m.first.Lock(ctx); err != nil {
		return err
	}
	if err := m.second.Lock(ctx); err != nil {
		return errors.Join(err, m.first.Unlock(ctx))
	}
	return nil
}

// Unlock implements Mutex.
func (m *turnMutex) Unlock(ctx context.Context) error {
	return errors.Join(m.second.Unlock(ctx), m.first.Unlock(ctx))
}

// termMutex is had by who leads.
type termMutex struct {
	of   *election.Election
	term *election.Term
}

// Lock implements Mutex.
func (m *termMutex) Lock(ctx context.Context) (err error) {
	m.term, err = m.of.Campaign(ctx)
	return err
}

// Unlock implements Mutex.
func (m *termMutex) Unlock(ctx context.Context) error { return m.term.Resign(ctx) }
