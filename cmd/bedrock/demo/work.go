package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
)

// turnTime is how long a worker works while it has the lock.
const turnTime = 15 * time.Millisecond

// self is the worker in its own process.
type self struct {
	name  string
	mutex *lock.Mutex
	api   *api

	mu      sync.Mutex // guards reports
	reports *json.Encoder

	lease *lock.Lease
	value int // as read
}

// Work is a worker process: it carries out the commands it reads until there are
// no more, which is also when the program that started it has died.
func Work(ctx context.Context, getenv func(string) string, stdin io.Reader, stdout io.Writer) error {
	if getenv(envSocket) == "" {
		return errors.New("demo: a worker is started by bedrock demo, not by hand")
	}
	s := &self{name: getenv(envWorker), api: dial(getenv(envSocket)), reports: json.NewEncoder(stdout)}
	locks, err := s.connect(getenv(envBackend))
	if err != nil {
		return err
	}
	s.mutex = locks.Mutex(getenv(envLock), nil)
	orders := json.NewDecoder(stdin)
	for c := (command{}); orders.Decode(&c) == nil; c = (command{}) {
		if err := s.obey(ctx, c); err != nil {
			s.sendReport(report{Event: eventFailed, Text: err.Error()})
		}
	}
	return nil // the end of the show
}

// connect opens the locks. They are not closed: a worker simply ends.
func (s *self) connect(url string) (*lock.Client, error) {
	opts := lock.Options{TTL: leaseTTL, Patience: 3 * time.Second}
	if url == "" {
		return lock.New(&remote{s.api}, &opts)
	}
	backend, err := lockurl.New(url)
	if err != nil {
		return nil, err
	}
	session, err := backend.Open(opts)
	if err != nil {
		return nil, err
	}
	return session.Client, nil
}

func (s *self) sendReport(r report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.reports.Encode(r) // nobody listens any more: the end is near
}

func (s *self) obey(ctx context.Context, c command) error {
	switch c.Do {
	case doCount:
		return s.count(ctx, c.For)
	case doTake:
		return s.takeLock(ctx)
	case doWrite:
		return s.write(ctx)
	case doRelease:
		return s.release(ctx)
	}
	return fmt.Errorf("unknown command %q", c.Do)
}

func (s *self) count(ctx context.Context, d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end); {
		if err := s.lockAndRead(ctx); err != nil {
			return err
		}
		time.Sleep(turnTime) // this is the work
		if err := s.write(ctx); err != nil {
			return err
		}
		if err := s.lease.Unlock(ctx); err != nil {
			return err
		}
	}
	s.sendReport(report{Event: eventCounted})
	return nil
}

func (s *self) lockAndRead(ctx context.Context) (err error) {
	if s.lease, err = s.mutex.Lock(ctx); err != nil {
		return err
	}
	s.value, err = s.api.read(ctx, s.name, s.lease.Token())
	return err
}

func (s *self) takeLock(ctx context.Context) error {
	if err := s.lockAndRead(ctx); err != nil {
		return err
	}
	s.sendReport(report{Event: eventTaken, Token: s.lease.Token(), Value: s.value})
	go s.watchLease(s.lease)
	return nil
}

// watchLease reports the loss of a lease.
func (s *self) watchLease(lease *lock.Lease) {
	<-lease.Context().Done()
	if err := lease.Err(); errors.Is(err, lock.ErrLost) {
		s.sendReport(report{Event: eventLost, Token: lease.Token(), Text: err.Error()})
	}
}

// write does not look at the lease: it is the program that was paused between
// looking and writing.
func (s *self) write(ctx context.Context) error {
	r := report{Event: eventWritten, Token: s.lease.Token(), Value: s.value + 1}
	err := s.api.write(ctx, s.name, r.Token, r.Value)
	if refusal, ok := errors.AsType[*refusal](err); ok {
		r.Event, r.Text, err = eventRefused, refusal.text, nil
	}
	if err == nil {
		s.sendReport(r)
	}
	return err
}

func (s *self) release(ctx context.Context) error {
	if err := s.lease.Unlock(ctx); err != nil {
		return err
	}
	s.sendReport(report{Event: eventReleased})
	return nil
}
