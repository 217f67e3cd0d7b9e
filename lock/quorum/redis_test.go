package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// overRedis makes a client of real servers.
func overRedis(t *testing.T, servers severaltest.Redis, connect severaltest.Library, opts quorum.Options) *member {
	t.Helper()
	opts.Lock.Logger = slog.New(slog.DiscardHandler)
	m := &member{}
	backends := servers.Connect(t, connect)
	for i, b := range backends {
		line := bedrocktest.NewBackend(b)
		m.lines, backends[i] = append(m.lines, line), line
	}
	locks, err := quorum.New(backends, &opts)
	if err != nil {
		t.Fatal(err)
	}
	m.Client = locks
	t.Cleanup(func() { _ = locks.Stop(contextFor(t, 10*time.Second)) })
	return m
}

func contextFor(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// lockOver takes a lock that must be had within a while.
func lockOver(t *testing.T, m *member, name string) *lock.Lease {
	t.Helper()
	lease, err := m.Mutex(name, &lock.MutexOptions{Wait: 20 * time.Second}).Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// TestRestartedNodeGivesItsVoteTwice: five servers, of which a holder reaches three. One of these is restarted without
// its data within the holder's time, when all can be reached again. Nobody else may have the lock before the holder
// knows of it, and that is before its time is over.
func TestRestartedNodeGivesItsVoteTwice(t *testing.T) {
	libraries := map[string]severaltest.Library{"goredis": severaltest.GoRedis, "rueidis": severaltest.Rueidis}
	for name, connect := range libraries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const ttl = 8 * time.Second
			scene := newScene(t, connect, ttl, ttl)
			scene.forget(t)
			next, granted := scene.takeNext(t)
			end := scene.lossOf(t, ttl)
			if granted.Before(end) {
				t.Errorf("granted to the next one %s before the holder lost it", end.Sub(granted))
			}
			if next.Token() <= scene.lease.Token() {
				t.Errorf("token %d after %d", next.Token(), scene.lease.Token())
			}
			if err := next.Unlock(contextFor(t, 5*time.Second)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRestartedNodeIsBelieved is the same without a quarantine, and what that is there for: two have the lock.
func TestRestartedNodeIsBelieved(t *testing.T) {
	t.Parallel()
	const ttl = 20 * time.Second
	scene := newScene(t, severaltest.GoRedis, ttl, -1)
	scene.forget(t)
	next, granted := scene.takeNext(t)
	if err := scene.lease.Err(); err != nil {
		t.Fatalf("the test proves nothing: %v", err)
	}
	if next.Token() <= scene.lease.Token() {
		t.Errorf("token %d after %d", next.Token(), scene.lease.Token())
	}
	if end := scene.lossOf(t, ttl); end.Before(granted) {
		t.Error("the holder has lost it before")
	}
	if err := next.Unlock(contextFor(t, 5*time.Second)); err != nil {
		t.Error(err)
	}
}

// scene has a holder on the first three of five servers.
type scene struct {
	servers severaltest.Redis
	a, b    *member
	lease   *lock.Lease
	granted time.Time      // before the lease was
	lost    chan time.Time // when its context has ended
}

func newScene(t *testing.T, connect severaltest.Library, ttl, quarantine time.Duration) *scene {
	t.Helper()
	s := &scene{servers: severaltest.StartRedis(t, 5), lost: make(chan time.Time, 1)}
	opts := quorum.Options{Quarantine: quarantine, Lock: lock.Options{TTL: ttl}}
	s.a, s.b = overRedis(t, s.servers, connect, opts), overRedis(t, s.servers, connect, opts)
	s.a.down(4, 5)
	awaitVotes(t, s.a, ttl)
	s.granted = time.Now()
	s.lease = lockOver(t, s.a, "a")
	if got, want := s.lease.Spread(), (lock.Spread{Held: 3, Stores: 5}); got != want {
		t.Fatalf("held on %+v, want %+v", got, want)
	}
	context.AfterFunc(s.lease.Context(), func() { s.lost <- time.Now() })
	return s
}

// awaitVotes waits until the servers are old enough to vote. It asks for another lock each time: while some of them are
// and others are not, what those have granted is given back in the background.
func awaitVotes(t *testing.T, m *member, ttl time.Duration) {
	t.Helper()
	end := contextFor(t, ttl+10*time.Second)
	for i := 0; ; i++ {
		lease, err := m.Mutex(fmt.Sprintf("warm up %d", i), nil).TryLock(end)
		if err == nil {
			if err := lease.Unlock(end); err != nil {
				t.Fatal(err)
			}
			return
		}
		if !errors.Is(err, driver.ErrUnavailable) || end.Err() != nil {
			t.Fatal(err)
		}
		<-time.After(50 * time.Millisecond)
	}
}

// forget restarts the third server without its data, and lets the holder reach the others, when it does not ask for
// their votes any more until it renews the lock.
func (s *scene) forget(t *testing.T) {
	t.Helper()
	<-time.After(time.Until(s.granted.Add(2 * time.Second)))
	s.servers[2].Restart(false)
	s.a.up(4, 5)
}

// takeNext asks for the lock again and again, as somebody who does not wait for a release.
func (s *scene) takeNext(t *testing.T) (*lock.Lease, time.Time) {
	t.Helper()
	for end := contextFor(t, time.Minute); ; {
		lease, err := s.b.Mutex("a", nil).TryLock(end)
		if err == nil {
			return lease, time.Now()
		}
		if end.Err() != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// lossOf returns when the holder's context has ended, which is by its time.
func (s *scene) lossOf(t *testing.T, ttl time.Duration) time.Time {
	t.Helper()
	select {
	case end := <-s.lost:
		if late := end.Sub(s.granted); late > 2*ttl {
			t.Errorf("lost after %s", late)
		}
		if cause := context.Cause(s.lease.Context()); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("the holder's context has ended with %v", cause)
		}
		return end
	case <-time.After(2 * ttl):
		t.Fatalf("the holder still believes in its lock, on %+v", s.lease.Spread())
		return time.Time{}
	}
}
