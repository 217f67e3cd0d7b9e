package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Shed is the test of a profile in ShedLock's table.
type Shed struct {
	Site *Site
	Open func(*sql.DB) (driver.Backend, error)
	// Table is ShedLock's, as its documents have it.
	Table string
	// Ahead is the time of the database in %d seconds.
	Ahead string
	// Ends are ends of a lock that is for ever.
	Ends []string
}

// backend opens one on a table that is made so.
func (s *Shed) backend(t *testing.T, table string) (b driver.Backend, dsn string) {
	t.Helper()
	dsn = s.Site.Fresh(t)
	if table != "" {
		s.Site.Execute(t, dsn, table)
	}
	b = s.Site.Backend(t, dsn, s.Open)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, dsn
}

// wantRefused checks that a name is refused, with those words.
func wantRefused(t *testing.T, b driver.Backend, name string, words ...string) {
	t.Helper()
	g, err := b.Acquire(t.Context(), Request(name, "o:refused"))
	if !errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrHeld) {
		t.Errorf("token %d: %v", g.Token, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("nothing is said of %q: %v", word, err)
		}
	}
}

// lockedRowKeepsOthers has somebody be at a row: the other locks are renewed.
func (s *Shed) lockedRowKeepsOthers(t *testing.T) {
	dsn := s.Site.Fresh(t)
	b := s.Site.Backend(t, dsn, s.Open)
	defer b.Close()
	grants := make([]driver.Grant, 6)
	for i := range grants {
		var err error
		if grants[i], err = b.Acquire(t.Context(), Request(strconv.Itoa(i), "o:1")); err != nil {
			t.Fatal(err)
		}
	}
	defer s.Site.haveRowsOf(t, dsn, shedTable, "0")()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	for i, err := range b.Renew(ctx, grants) {
		if (err == nil) != (i > 0) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// Run runs the tests that are the same for all databases.
func (s *Shed) Run(t *testing.T) {
	t.Helper()
	t.Run("ManyMakeTheTable", func(t *testing.T) {
		dsn := s.Site.Fresh(t)
		ManyMakeTheTables(t, func() driver.Backend { return s.Site.Backend(t, dsn, s.Open) })
	})
	t.Run("LockedRowKeepsOthersFromRenewal", s.lockedRowKeepsOthers)
	t.Run("NamesMeetInShedLocksTable", s.namesMeet)
	t.Run("LockOfTheFutureIsBelieved", s.futureIsBelieved)
	t.Run("JobIsSwitchedOff", s.jobIsSwitchedOff)
	t.Run("ClockWasSetBack", s.clockWasSetBack)
	t.Run("TableIsAnother", func(t *testing.T) {
		b, _ := s.backend(t, strings.Replace(s.Table, "locked_by VARCHAR(255)", "locker VARCHAR(255)", 1))
		wantRefused(t, b, "a", "locked_by")
	})
	t.Run("OwnersAreTooLongForTheTable", func(t *testing.T) {
		b, _ := s.backend(t, strings.Replace(s.Table, "VARCHAR(255)", "VARCHAR(100)", 1))
		wantRefused(t, b, "a", "locked_by", "100")
	})
	t.Run("TableKeepsWholeSeconds", func(t *testing.T) {
		seconds := strings.NewReplacer("TIMESTAMP(3)", "TIMESTAMP(0)", "TIMESTAMP", "TIMESTAMP(0)")
		b, _ := s.backend(t, seconds.Replace(s.Table))
		wantRefused(t, b, "a", "lock_until", "0 digits", "wanted are 3")
	})
	t.Run("DroppedTableStaysAway", s.droppedStaysAway)
	t.Run("OwnerHasNewTokens", s.ownerKeepsItsTokens)
	t.Run("ReleaseIsForgotten", s.releaseIsForgotten)
	t.Run("CheckFindsNothing", s.checkFindsNothing)
}

func (s *Shed) namesMeet(t *testing.T) {
	b, _ := s.backend(t, s.Table)
	wantRefused(t, b, strings.Repeat("x", 65), "65", "64")
	if _, err := b.Acquire(t.Context(), Request(strings.Repeat("é", 64), "o:1")); err != nil {
		t.Error(err)
	}
	if _, err := b.Acquire(t.Context(), Request("Job", "o:2")); err != nil {
		t.Fatal(err)
	}
	for _, like := range []string{"job", "Job "} { // each is a lock of its own, or refused
		g, err := b.Acquire(t.Context(), Request(like, "o:3"))
		if err == nil {
			_, err = b.Release(t.Context(), g)
		}
		if err != nil && (!errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), `"Job"`)) {
			t.Errorf("%q: %v", like, err)
		}
	}
}

// futureIsBelieved meets a lock that another library took by the time of another zone.
func (s *Shed) futureIsBelieved(t *testing.T) {
	b, dsn := s.backend(t, s.Table)
	s.insertRow(t, dsn, 3600, 3600)
	wantRefused(t, b, "a", "future", "host", "time zone")
}

// insertRow has another library have taken a lock, as many seconds from now, until so many from now.
func (s *Shed) insertRow(t *testing.T, dsn string, at, until int) {
	t.Helper()
	s.Site.Execute(t, dsn, fmt.Sprintf(
		"INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES ('a', "+s.Ahead+", "+s.Ahead+", 'host')",
		until, at))
}

// jobIsSwitchedOff has somebody lock a job until the last day there is, and longer: it is held for a long time.
func (s *Shed) jobIsSwitchedOff(t *testing.T) {
	for i, until := range s.Ends {
		t.Run(fmt.Sprint("end", i), func(t *testing.T) { s.heldUntil(t, until) })
	}
}

func (s *Shed) heldUntil(t *testing.T, until string) {
	b, dsn := s.backend(t, "")
	if _, err := b.Acquire(t.Context(), Request("b", "o:1")); err != nil { // the table is there
		t.Fatal(err)
	}
	s.insertRow(t, dsn, -60, 60)
	s.Site.Execute(t, dsn, "UPDATE shedlock SET lock_until = '"+until+"' WHERE name = 'a'")
	_, err := b.Acquire(t.Context(), Request("a", "o:1"))
	if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.TTL < 100*time.Hour {
		t.Errorf("until %s: %+v, %v", until, held, err)
	}
	all, err := b.(driver.Inspector).List(t.Context(), "a", 10)
	if err != nil || len(all) != 1 || len(all[0].Holders) != 1 || all[0].Holders[0].TTL < 100*time.Hour {
		t.Errorf("until %s: %+v, %v", until, all, err)
	}
}

// clockWasSetBack comes to a lock that is free, and was taken later than now.
func (s *Shed) clockWasSetBack(t *testing.T) {
	b, dsn := s.backend(t, s.Table)
	s.insertRow(t, dsn, 5, -60)
	g, err := b.Acquire(t.Context(), Request("a", "o:1"))
	if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "clock") {
		t.Errorf("token %d, which is below the last one: %v", g.Token, err)
	}
}

func (s *Shed) droppedStaysAway(t *testing.T) {
	b, dsn := s.backend(t, "")
	g, err := b.Acquire(t.Context(), Request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	s.Site.Execute(t, dsn, "DROP TABLE shedlock")
	next, err := b.Acquire(t.Context(), Request("a", "o:2"))
	if err != nil || next.Token <= g.Token {
		t.Errorf("token %d after %d: %v", next.Token, g.Token, err)
	}
}

// ownerKeepsItsTokens has an owner ask again and again, as one does that had no answer.
func (s *Shed) ownerKeepsItsTokens(t *testing.T) {
	b, _ := s.backend(t, "")
	req := Request("a", "o:1")
	req.Tokens = 5000
	first, err := b.Acquire(t.Context(), req)
	if err != nil || first.Tokens != 1000 {
		t.Fatalf("%d tokens: %v", first.Tokens, err)
	}
	for range 20 {
		if again, err := b.Acquire(t.Context(), req); err != nil || again.Token != first.Token {
			t.Fatalf("token %d after %d: %v", again.Token, first.Token, err)
		}
	}
}

// releaseIsForgotten gives a lock back twice, to two clients.
func (s *Shed) releaseIsForgotten(t *testing.T) {
	b, dsn := s.backend(t, "")
	other := s.Site.Backend(t, dsn, s.Open)
	defer other.Close()
	g, err := b.Acquire(t.Context(), Request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []driver.Backend{b, b, other} {
		if _, err := one.Release(t.Context(), g); err != nil {
			t.Error(err)
		}
	}
	if err := b.Renew(t.Context(), []driver.Grant{g})[0]; !errors.Is(err, driver.ErrLost) {
		t.Errorf("it is renewed: %v", err)
	}
}

func (s *Shed) checkFindsNothing(t *testing.T) {
	b, _ := s.backend(t, s.Table)
	check, ok := b.(driver.Checker)
	if !ok {
		t.Fatalf("%T is no Checker", b)
	}
	found, err := check.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(found); !strings.Contains(text, "names have 64 characters") {
		t.Errorf("%+v", found)
	}
	if found[0].Level > driver.Notice {
		t.Errorf("the worst is %+v", found[0])
	}
}

// Exclude has two backends exclude each other, with a lease of a minute.
func Exclude(t *testing.T, one, other driver.Backend) {
	t.Helper()
	var token uint64
	for i, b := range []driver.Backend{one, other, one, other} {
		rival := []driver.Backend{other, one}[i%2]
		g, err := b.Acquire(t.Context(), Request("a", fmt.Sprintf("o:%d", i)))
		if err != nil || g.Token <= token {
			t.Fatalf("token %d after %d: %v", g.Token, token, err)
		}
		token = g.Token
		_, err = rival.Acquire(t.Context(), Request("a", "p:1"))
		held, ok := errors.AsType[*driver.HeldError](err)
		if !ok || held.TTL < 50*time.Second || held.TTL > 61*time.Second {
			t.Errorf("the other one: %v, %+v", err, held)
		}
		if err := rival.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
			t.Error(err)
		}
		if _, err := b.Release(t.Context(), g); err != nil {
			t.Error(err)
		}
	}
}
