package sqltest

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Session is the test of a profile that keeps locks in the session of a connection.
type Session struct {
	Site *Site
	Open func(*sql.DB) (driver.Backend, error)
	// Connections counts those to the site's database.
	Connections string
	// Full has the database say that its disk is full to whoever writes a token.
	Full []string
}

func (s *Session) newClient(t *testing.T, dsn string) *lock.Client {
	t.Helper()
	c, err := lock.New(s.Site.Backend(t, dsn, s.Open), &lock.Options{TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	StopAfter(t, c)
	return c
}

// Run runs the tests that are the same for all databases. They use the site's database.
func (s *Session) Run(t *testing.T) {
	t.Helper()
	t.Run("LossIsToldLate", s.lossIsToldLate)
	t.Run("SilenceHasNoReason", s.silenceHasNoReason)
	t.Run("LocksTakeAConnectionEach", s.connectionEach)
	t.Run("OwnersOfAClientMeet", s.ownersMeet)
	t.Run("DroppedTableStaysAway", s.droppedStaysAway)
	t.Run("FullDiskEndsTheSession", s.fullDiskEndsTheSession)
	t.Run("PoolOfOneIsUsedUp", func(t *testing.T) {
		db := s.Site.Connect(t, s.Site.DSN(Database))
		db.SetMaxOpenConns(1)
		b, err := s.Open(db)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		wantRefused(t, b, "a", "one connection")
	})
	t.Run("ManyMakeTheTable", func(t *testing.T) {
		dsn := s.Site.Fresh(t)
		ManyMakeTheTables(t, func() driver.Backend { return s.Site.Backend(t, dsn, s.Open) })
	})
	t.Run("ClosedClientKeepsItsLocks", s.closedKeepsLocks)
	t.Run("TokensEndWithTheSession", s.tokensEndWithTheSession)
	t.Run("DeadHolderIsWaitedFor", s.deadIsWaitedFor)
	t.Run("PausedHolderIsWaitedForWithoutEnd", s.pausedIsWaitedFor)
}

// lossIsToldLate ends the connection of a holder that renews nothing for an hour.
func (s *Session) lossIsToldLate(t *testing.T) {
	dsn := s.Site.DSN(Database)
	holder, other := s.newClient(t, dsn), s.newClient(t, dsn)
	lease, err := holder.Mutex("lost", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Site.Disconnect(t)
	select {
	case <-lease.Context().Done():
	case <-time.After(time.Second):
		t.Error("after a second the holder knows nothing")
	}
	wantReason(t, lease, "its connection has ended: ")
	next, err := other.Mutex("lost", &lock.MutexOptions{Wait: 10 * time.Second}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if next.Token() <= lease.Token() {
		t.Errorf("token %d after %d", next.Token(), lease.Token())
	}
	if err := lease.Unlock(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the one that has lost it gives it back: %v", err)
	}
	if err := next.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// wantReason checks what the holder of a lost lock is told.
func wantReason(t *testing.T, lease *lock.Lease, reason string) {
	t.Helper()
	if err := lease.Err(); err == nil || !strings.Contains(err.Error(), ": lost: "+reason) {
		t.Errorf("the holder is told %v, want %s", err, reason)
	}
}

// silenceHasNoReason has the server say nothing: it is the client that closes the connection.
func (s *Session) silenceHasNoReason(t *testing.T) {
	lease, err := s.newClient(t, s.Site.DSN(Database)).Mutex("silent", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Site.Freeze()
	defer s.Site.Thaw()
	select {
	case <-lease.Context().Done():
	case <-time.After(time.Minute):
	}
	wantReason(t, lease, "its connection was closed: no answer in 5s")
}

// ownersMeet has two come over one connection, whose locks it has already.
func (s *Session) ownersMeet(t *testing.T) {
	b := s.Site.Backend(t, s.Site.DSN(Database), s.Open)
	defer b.Close()
	g, err := b.Acquire(t.Context(), Request("met", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Acquire(t.Context(), Request("met", "o:2"))
	if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.Owner != "o:1" || held.TTL > time.Minute {
		t.Errorf("%v, %+v", err, held)
	}
	if _, err := b.Release(t.Context(), g); err != nil {
		t.Error(err)
	}
}

// fullDiskEndsTheSession asks for one more lock while the database cannot write: the session goes on with those it has.
func (s *Session) fullDiskEndsTheSession(t *testing.T) {
	dsn := s.Site.Fresh(t)
	b, other := s.Site.Backend(t, dsn, s.Open), s.Site.Backend(t, dsn, s.Open)
	defer b.Close()
	defer other.Close()
	g, err := b.Acquire(t.Context(), Request("held", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	s.Site.Execute(t, dsn, s.Full...)
	if _, err := b.Acquire(t.Context(), Request("more", "o:2")); err == nil || errors.Is(err, driver.ErrRefused) {
		t.Errorf("on a full disk: %v", err)
	}
	if err := b.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
		t.Errorf("what it had is lost: %v", err)
	}
	for name, held := range map[string]bool{"held": true, "more": false} {
		if _, err := other.Acquire(t.Context(), Request(name, "p:1")); errors.Is(err, driver.ErrHeld) != held {
			t.Errorf("another one asks for %s: %v", name, err)
		}
	}
}

// droppedStaysAway has somebody drop the table of tokens, while the session goes on.
func (s *Session) droppedStaysAway(t *testing.T) {
	dsn := s.Site.Fresh(t)
	b := s.Site.Backend(t, dsn, s.Open)
	defer b.Close()
	var last uint64
	for i := range 2 {
		g, err := b.Acquire(t.Context(), Request("a", fmt.Sprintf("o:%d", i)))
		if err != nil || g.Token <= last {
			t.Fatalf("token %d after %d: %v", g.Token, last, err)
		}
		last = g.Token
		if _, err := b.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		s.Site.Execute(t, dsn, "DROP TABLE bedrock_session_locks")
	}
}

// connectionEach has a client hold many locks, and wait for many.
func (s *Session) connectionEach(t *testing.T) {
	dsn := s.Site.Fresh(t)
	holder, waiter := s.newClient(t, dsn), s.newClient(t, dsn)
	var all sync.WaitGroup
	leases := make([]*lock.Lease, 20)
	for i := range leases {
		lease, err := holder.Mutex(strconv.Itoa(i), nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leases[i] = lease
		for range 3 {
			all.Go(func() {
				l, err := waiter.Mutex(strconv.Itoa(i), &lock.MutexOptions{Wait: time.Minute}).Lock(t.Context())
				if err == nil {
					err = l.Unlock(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	database := strings.ToLower(t.Name()[strings.LastIndex(t.Name(), "/")+1:])
	var n int
	err := s.Site.Connect(t, s.Site.DSN(s.Site.main)).QueryRowContext(t.Context(),
		fmt.Sprintf(s.Connections, database)).Scan(&n)
	if err != nil || n > 4 { // a session each, and what made the table
		t.Errorf("%d connections: %v", n, err)
	}
	for _, lease := range leases {
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
}

// closedKeepsLocks has a backend be closed that has a lock: the pool goes on, and its connections with it.
func (s *Session) closedKeepsLocks(t *testing.T) {
	db := s.Site.Connect(t, s.Site.DSN(Database))
	b, err := s.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), Request("closed", "o:1")); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	c := s.newClient(t, s.Site.DSN(Database))
	l, err := c.Mutex("closed", &lock.MutexOptions{Wait: 5 * time.Second}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// tokensEndWithTheSession counts over several sessions.
func (s *Session) tokensEndWithTheSession(t *testing.T) {
	var last uint64
	for i := range 5 {
		b := s.Site.Backend(t, s.Site.DSN(Database), s.Open)
		g, err := b.Acquire(t.Context(), Request("counted", fmt.Sprintf("o:%d", i)))
		if err != nil || g.Token <= last {
			t.Fatalf("token %d after %d: %v", g.Token, last, err)
		}
		last = g.Token
		if _, err := b.Release(t.Context(), g); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
