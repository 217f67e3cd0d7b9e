package sqltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// Server is a database server that can be mistreated.
type Server interface {
	Kill()
	Restart()
	Freeze()
	Thaw()
}

// patience is how long anything may take at all.
const patience = 30 * time.Second

// Crash kills a server amid writes, several times. Everything that was
// acknowledged must be there afterwards, and nothing that was refused.
func Crash(t *testing.T, s Subject, server Server) {
	store := s.Store(t, &sqlstore.Options{Table: "crash"})
	const writers, crashes = 16, 3
	l := &ledger{acknowledged: make(map[string]driver.Version), denied: make(map[string]bool)}
	for crash := range crashes {
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for i := range writers {
			group.Go(func() { l.write(ctx, store, fmt.Sprintf("crash-%d-%d", crash, i)) })
		}
		l.waitWrites(t, (crash+1)*400)
		server.Kill()
		cancel()
		group.Wait()
		server.Restart()
		l.verify(t, store)
	}
	t.Logf("%d writes acknowledged, %d left open by %d crashes", l.writes, l.open, crashes)
}

// ledger is what writers were told.
type ledger struct {
	mu           sync.Mutex
	acknowledged map[string]driver.Version
	denied       map[string]bool // the next write is known not to have happened
	writes, open int
}

// write creates records and updates them until an error.
func (l *ledger) write(ctx context.Context, s driver.Store, prefix string) {
	for n := 0; ; n++ {
		rec := dueRecord(numbered(prefix, n))
		if !l.addWrite(rec, s.Create(ctx, rec)) || !l.addWrite(rec, s.Update(ctx, rec.Version(), rec)) {
			return
		}
	}
}

// addWrite reports whether the write was acknowledged.
func (l *ledger) addWrite(rec *driver.Record, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.open++
		l.denied[rec.ID] = errors.Is(err, driver.ErrUnavailable)
		return false
	}
	l.writes++
	l.acknowledged[rec.ID] = rec.Version()
	return true
}

// waitWrites waits for a number of writes.
func (l *ledger) waitWrites(t *testing.T, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d writes", n), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.writes >= n
	})
}

// verify compares the ledger with what is stored.
func (l *ledger) verify(t *testing.T, s driver.Store) {
	t.Helper()
	for id, version := range l.acknowledged {
		rec, err := load(t, s, id)
		if err != nil {
			t.Fatalf("acknowledged in revision %d: %v", version.Revision, err)
		}
		// A write whose answer was lost may be there as well.
		if n := rec.Revision - version.Revision; n < 0 || n > 1 || n == 1 && l.denied[id] {
			t.Errorf(
				"%q has revision %d, acknowledged was %d; next denied: %v", id, rec.Revision, version.Revision,
				l.denied[id],
			)
		}
	}
	for id, denied := range l.denied {
		if _, known := l.acknowledged[id]; denied && !known {
			if _, err := load(t, s, id); err == nil {
				t.Errorf("%q is there, but its creator was told that nothing was written", id)
			}
		}
	}
}

// load reads a record from a server that has just come back: connections that
// are dead are found out one by one.
func load(t *testing.T, s driver.Store, id string) (rec *driver.Record, err error) {
	t.Helper()
	eventually(t, "the server answers", func() bool {
		rec, err = s.Load(t.Context(), id)
		return err == nil || errors.Is(err, driver.ErrNotFound)
	})
	return rec, err
}

// Freeze suspends a server: callers leave when they want to, with an error that
// does not claim to know; afterwards everything goes on.
func Freeze(t *testing.T, s Subject, server Server) {
	store := s.Store(t, &sqlstore.Options{Table: "frozen"})
	rec := dueRecord("a")
	if err := store.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	server.Freeze()
	for name, call := range map[string]func(context.Context) error{
		"create": func(ctx context.Context) error { return store.Create(ctx, dueRecord("b")) },
		"update": func(ctx context.Context) error { return store.Update(ctx, rec.Version(), rec.Clone()) },
		"load":   func(ctx context.Context) error { _, err := store.Load(ctx, "a"); return err },
		"list":   func(ctx context.Context) error { _, err := store.List(ctx, driver.Query{}); return err },
		"count":  func(ctx context.Context) error { _, err := store.Count(ctx); return err },
		"claim": func(ctx context.Context) error {
			_, err := store.Claim(ctx, driver.Claim{Owner: "o", Lease: time.Second, Limit: 1})
			return err
		},
		"delete": func(ctx context.Context) error { _, err := store.Delete(ctx, []driver.Ref{{ID: "a"}}); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		start := time.Now()
		err := call(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
			t.Errorf("%s: after %v: %v", name, time.Since(start), err)
		}
	}
	server.Thaw()
	eventually(t, "writes succeed again", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return store.Create(ctx, dueRecord(fmt.Sprint("after-", time.Now().UnixNano()))) == nil
	})
}

// Unreachable stops a server: nothing can be sent, and that is what is said.
func Unreachable(t *testing.T, s Subject, server Server) {
	store := s.Store(t, &sqlstore.Options{Table: "unreachable"})
	if err := store.Create(t.Context(), dueRecord("a")); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	eventually(t, "the connections are known to be dead", func() bool {
		return errors.Is(store.Create(t.Context(), dueRecord("b")), driver.ErrUnavailable)
	})
	if _, err := store.Load(t.Context(), "a"); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("load: want ErrUnavailable, got %v", err)
	}
	server.Restart()
	eventually(t, "writes succeed again", func() bool { return store.Create(t.Context(), dueRecord("c")) == nil })
}

// eventually looks again and again until done.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}
