package sqltest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// holdsAt has a test program be another one, which holds a lock in the database there until it is killed.
const holdsAt = "BEDROCK_HOLDS_AT"

// HoldIfAsked is that program: it does not return where this is one.
func HoldIfAsked(kind string, open func(*sql.DB) (driver.Backend, error)) {
	dsn := os.Getenv(holdsAt)
	if dsn == "" {
		return
	}
	if err := holdLock(kind, dsn, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "held")
	select {}
}

func holdLock(kind, dsn string, open func(*sql.DB) (driver.Backend, error)) error {
	db, err := sql.Open(kind, dsn)
	if err != nil {
		return err
	}
	b, err := open(db)
	if err != nil {
		return err
	}
	c, err := lock.New(b, &lock.Options{TTL: 2 * time.Second})
	if err != nil {
		return err
	}
	_, err = c.Mutex("another's", nil).Lock(context.Background())
	return err
}

// anotherHolds starts that program, and returns when it has the lock.
func anotherHolds(t *testing.T, dsn string) *child.Process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), holdsAt+"="+dsn)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = in
	p, err := child.Start(cmd, false)
	_ = in.Close() // the program has it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Signal(os.Kill)
		<-p.Done()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the other process has no lock: %v", err)
	}
	return p
}

// deadIsWaitedFor kills a process that has a lock.
func (s *Session) deadIsWaitedFor(t *testing.T) {
	dsn := s.Site.Fresh(t)
	c := s.newClient(t, dsn)
	p := anotherHolds(t, dsn)
	mutex := c.Mutex("another's", &lock.MutexOptions{Wait: time.Minute})
	if l, err := c.Mutex("another's", nil).TryLock(t.Context()); err == nil {
		t.Fatalf("token %d: two have it", l.Token())
	}
	p.Signal(os.Kill)
	<-p.Done()
	s.hasWithin(t, mutex, 0, time.Second)
}

// pausedIsWaitedFor pauses a process that has a lock, as a suspended machine is: its connection lives.
func (s *Session) pausedIsWaitedFor(t *testing.T) {
	if !child.CanFreeze {
		t.Skip("no process can be paused here")
	}
	dsn := s.Site.Fresh(t)
	c := s.newClient(t, dsn)
	p := anotherHolds(t, dsn)
	if err := p.Freeze(); err != nil {
		t.Fatal(err)
	}
	// It may have said something a third of a second ago, and believes in the lock for 2 s.
	s.hasWithin(t, c.Mutex("another's", &lock.MutexOptions{Wait: time.Minute}), 5*time.Second, 20*time.Second)
}

// hasWithin takes a lock that somebody has who is gone.
func (s *Session) hasWithin(t *testing.T, m *lock.Mutex, least, most time.Duration) {
	t.Helper()
	start := time.Now()
	l, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < least || took > most {
		t.Errorf("it took %s, want %s to %s", took, least, most)
	} else {
		t.Logf("it took %s", took)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}
