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

// RowScenes runs the tests of locks in rows that are the same for all databases.
func (s *Site) RowScenes(t *testing.T, open func(*sql.DB) (driver.Backend, error)) {
	t.Helper()
	t.Run("ManyMakeTheTables", func(t *testing.T) {
		dsn := s.Fresh(t)
		ManyMakeTheTables(t, func() driver.Backend { return s.Backend(t, dsn, open) })
	})
	t.Run("PoolIsUsedUp", func(t *testing.T) { PoolIsUsedUp(t, s.Connect(t, s.Fresh(t)), open) })
	t.Run("StandbyGivesATokenTwice", func(t *testing.T) { s.standbyGivesATokenTwice(t, s.Fresh(t), open) })
	t.Run("SweepIsWaitedFor", func(t *testing.T) { s.sweepIsWaitedFor(t, s.Fresh(t), open) })
	t.Run("LockedRowKeepsOthersFromRenewal", func(t *testing.T) { s.lockedRowKeepsOthers(t, s.Fresh(t), open) })
	for name, scene := range map[string]func(t *testing.T, b driver.Backend, dsn string){
		"EmptiedTablesStayEmpty": func(t *testing.T, b driver.Backend, dsn string) {
			EmptiedTablesStayEmpty(t, b, func() {
				for _, table := range []string{"bedrock_locks", "bedrock_locks_holders", "bedrock_locks_about"} {
					s.Execute(t, dsn, "TRUNCATE "+table)
				}
			})
		},
		"OneDroppedTableStaysAway": func(t *testing.T, b driver.Backend, dsn string) {
			oneDroppedTableStaysAway(t, b, func(table string) { s.Execute(t, dsn, "DROP TABLE "+table) })
		},
		"LossIsHiddenByAnother": func(t *testing.T, b driver.Backend, _ string) { lossIsHiddenByAnother(t, b) },
		"OwnerIsTheBeginningOfAnother": func(t *testing.T, b driver.Backend, _ string) {
			ownerIsTheBeginningOfAnother(t, b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := s.Fresh(t)
			b := s.Backend(t, dsn, open)
			defer b.Close()
			scene(t, b, dsn)
		})
	}
}

// EmptiedTablesStayEmpty has somebody delete all rows, as test programs do between their tests.
func EmptiedTablesStayEmpty(t *testing.T, b driver.Backend, empty func()) {
	t.Helper()
	g, err := b.Acquire(t.Context(), Request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		empty()
		next, err := b.Acquire(t.Context(), Request("a", "o:2"))
		if err != nil || next.Token <= g.Token {
			t.Errorf("token %d after %d: %v", next.Token, g.Token, err)
		}
		empty()
		if _, err := b.Acquire(t.Context(), shared("b", "o:1")); err != nil {
			t.Error(err)
		}
	}
}

// oneDroppedTableStaysAway has somebody drop one table of three: it is made anew like all of them.
func oneDroppedTableStaysAway(t *testing.T, b driver.Backend, drop func(table string)) {
	t.Helper()
	if _, err := b.Acquire(t.Context(), Request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	drop("bedrock_locks")
	if _, err := b.Acquire(t.Context(), Request("b", "o:1")); err != nil {
		t.Error(err)
	}
	drop("bedrock_locks_holders")
	if _, err := b.Acquire(t.Context(), shared("c", "o:1")); err != nil {
		t.Error(err)
	}
}

// lossIsHiddenByAnother renews two locks of one owner, as those of a bundle are, one of which somebody else has by now.
func lossIsHiddenByAnother(t *testing.T, b driver.Backend) {
	t.Helper()
	var grants []driver.Grant
	for _, name := range []string{"lost", "kept"} {
		g, err := b.Acquire(t.Context(), Request(name, "o:1"))
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, g)
	}
	force, ok := b.(driver.Forcer)
	if !ok {
		t.Fatalf("%T is no Forcer", b)
	}
	if _, err := force.ForceRelease(t.Context(), "lost"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), Request("lost", "p:1")); err != nil {
		t.Fatal(err)
	}
	if errs := b.Renew(t.Context(), grants); !errors.Is(errs[0], driver.ErrLost) || errs[1] != nil {
		t.Errorf("renewed: %v", errs)
	}
}

// ownerIsTheBeginningOfAnother has many owners release a name, longer ones than one that has lost it: it has not
// released it, however much is kept of who has.
func ownerIsTheBeginningOfAnother(t *testing.T, b driver.Backend) {
	t.Helper()
	owner := strings.Repeat("c", 74) + ":1" // of thirteen that have two letters more 1024 bytes end with as many
	lost, err := b.Acquire(t.Context(), Request("short", owner))
	if err != nil {
		t.Fatal(err)
	}
	force, ok := b.(driver.Forcer)
	if !ok {
		t.Fatalf("%T is no Forcer", b)
	}
	if _, err := force.ForceRelease(t.Context(), "short"); err != nil {
		t.Fatal(err)
	}
	for n := range 16 {
		g, err := b.Acquire(t.Context(), Request("short", fmt.Sprintf("%s%02d", owner, n)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Release(t.Context(), lost); !errors.Is(err, driver.ErrLost) {
			t.Fatalf("after %d others: %v", n+1, err)
		}
	}
}

// TellsNoSchema asks for a lock, and who is behind, where that fails for a reason that no table would mend.
func TellsNoSchema(t *testing.T, b driver.Backend, want string) {
	t.Helper()
	_, err := b.Acquire(t.Context(), Request("a", "o:1"))
	errs := []error{err}
	if who, ok := b.(driver.Identifier); ok {
		_, err = who.Identity(t.Context())
		errs = append(errs, err)
	}
	for _, err := range errs {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CREATE TABLE") {
			t.Errorf("want %q alone: %v", want, err)
		}
	}
}

// shared asks to read.
func shared(name, owner string) driver.Request {
	req := Request(name, owner)
	req.Mode = driver.Shared
	return req
}

// sweepIsWaitedFor has somebody be at what is written when a name is forgotten, while another is asked for.
func (s *Site) sweepIsWaitedFor(t *testing.T, dsn string, open func(*sql.DB) (driver.Backend, error)) {
	t.Helper()
	first := s.Backend(t, dsn, open)
	defer first.Close()
	g, err := first.Acquire(t.Context(), Request("idle", "o:1"))
	if err == nil {
		_, err = first.Release(t.Context(), g)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Execute(t, dsn, "UPDATE bedrock_locks SET touched = 0")
	tx, err := s.Connect(t, dsn).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // it has written nothing
	if _, err := tx.ExecContext(t.Context(), "SELECT floor FROM bedrock_locks_about FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	b := s.Backend(t, dsn, open) // it looks round after its first step
	defer b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := b.Acquire(ctx, shared("other", "o:2")); err != nil {
		t.Error(err)
	}
}

// HaveRows has somebody be at the rows of some names, until it is told to leave.
func (s *Site) HaveRows(t *testing.T, dsn string, names ...string) (leave func()) {
	t.Helper()
	return s.haveRowsOf(t, dsn, nameTable, names...)
}

func (s *Site) haveRowsOf(t *testing.T, dsn, table string, names ...string) (leave func()) {
	t.Helper()
	tx, err := s.Connect(t, dsn).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(names, "', '")
	query := fmt.Sprintf("SELECT 1 FROM %s WHERE name IN ('%s') FOR UPDATE", table, all) //nolint:gosec // a test's
	if _, err := tx.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback() } // it has written nothing
}

// lockedRowKeepsOthers has somebody be at the rows of some locks for as long as he likes: the others are renewed. Some
// of them, whose rows are free, take a transaction: one is cut short, readers have rows of their own.
func (s *Site) lockedRowKeepsOthers(t *testing.T, dsn string, open func(*sql.DB) (driver.Backend, error)) {
	t.Helper()
	b := s.Backend(t, dsn, open)
	defer b.Close()
	grants := make([]driver.Grant, 40)
	for i := range grants {
		req := Request(strconv.Itoa(i), "o:1")
		if i%10 >= 7 {
			req.Mode = driver.Shared
		}
		var err error
		if grants[i], err = b.Acquire(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	grants[4].TTL /= 2
	locked := map[int]bool{5: true, 6: true, 7: true, 8: true, 17: true}
	leave := s.HaveRows(t, dsn, "5", "6", "7", "8", "17")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	for i, err := range b.Renew(ctx, grants) {
		if locked[i] != (err != nil) {
			t.Errorf("%d: %v", i, err)
		}
	}
	leave()
	for i, err := range b.Renew(t.Context(), grants) {
		if err != nil {
			t.Errorf("%d when nobody has it: %v", i, err)
		}
	}
}

// standbyGivesATokenTwice puts a row back as a standby has it that lacks the last grant. A plain lock and one with
// others come by different ways.
func (s *Site) standbyGivesATokenTwice(t *testing.T, dsn string, open func(*sql.DB) (driver.Backend, error)) {
	t.Helper()
	b := s.Backend(t, dsn, open)
	defer b.Close()
	for name, request := range map[string]func(name, owner string) driver.Request{"plain": Request, "read": shared} {
		var tokens []uint64
		for _, owner := range []string{"o:1", "o:2", "p:1"} {
			g, err := b.Acquire(t.Context(), request(name, owner))
			if err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, g.Token)
			if _, err := b.Release(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			if owner == "o:2" {
				s.Execute(t, dsn, fmt.Sprintf("UPDATE bedrock_locks SET token = %d WHERE name = '%s'", tokens[0], name))
			}
		}
		if tokens[2] <= tokens[1] {
			t.Errorf("%s: token %d, which is lost, and then %d", name, tokens[1], tokens[2])
		}
	}
}
