package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

func newClient(t *testing.T, site *sqltest.Site, dsn string, connections int) *lock.Client {
	t.Helper()
	db := site.Connect(t, dsn)
	db.SetMaxOpenConns(connections)
	c, err := postgres.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestDatabase has tests that share a server.
func TestDatabase(t *testing.T) {
	site := sqltest.Postgres(t)
	site.RowScenes(t, open)
	t.Run("PoolOfOneIsUsedUp", func(t *testing.T) { poolOfOneIsUsedUp(t, site, site.Fresh(t)) })
	t.Run("AccountMayNotMakeTables", func(t *testing.T) { accountMayNotMakeTables(t, site, site.Fresh(t)) })
	t.Run("DroppedTablesStayAway", func(t *testing.T) { droppedTablesStayAway(t, site, site.Fresh(t)) })
	t.Run("WaiterLosesItsConnection", func(t *testing.T) { waiterLosesItsConnection(t, site, site.Fresh(t)) })
	t.Run("HolderIsSilentInATransaction", func(t *testing.T) { silentInATransaction(t, site, site.Fresh(t)) })
	t.Run("ListenersTakeAllConnections", func(t *testing.T) { listenersTakeAll(t, site, site.Fresh(t)) })
	t.Run("BusyPoolIsDeafForEver", func(t *testing.T) { busyPoolIsDeafForEver(t, site, site.Fresh(t)) })
	t.Run("BreakInABusyPoolIsNotToldOf", func(t *testing.T) { breakInABusyPool(t, site, site.Fresh(t)) })
	t.Run("DeletedRowIsNotToldOf", func(t *testing.T) { deletedRowIsNotToldOf(t, site, site.Fresh(t)) })
	t.Run("NoDatabaseIsNoMissingTable", func(t *testing.T) {
		b := site.Backend(t, site.Fresh(t)+"&database=none", open)
		defer b.Close()
		sqltest.TellsNoSchema(t, b, "does not exist")
	})
	t.Run("RefusalNamesOneWhoHasGone", func(t *testing.T) { refusalNamesOneWhoHasGone(t, site, site.Fresh(t)) })
	t.Run("LockedRowsTakeASmallPool", func(t *testing.T) { lockedRowsTakeASmallPool(t, site, site.Fresh(t)) })
	t.Run("RenewalNeverFindsABusyRowFree", func(t *testing.T) { renewalPassesABusyRow(t, site, site.Fresh(t)) })
	t.Run("NamesAreTranslated", func(t *testing.T) { namesAreTranslated(t, site, site.Fresh(t)) })
	t.Run("DangerIsFine", func(t *testing.T) { dangerIsFine(t, site, site.Fresh(t)) })
}

// poolOfOneIsUsedUp has all wait that may: none of them keeps the only connection.
func poolOfOneIsUsedUp(t *testing.T, site *sqltest.Site, dsn string) {
	db := site.Connect(t, dsn)
	db.SetMaxOpenConns(1)
	b, err := open(db)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := waiterOf(t, b).Watch(t.Context(), "a", driver.Mutex); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("a pool of one that listens: %v", err)
	}
	c := newClient(t, site, dsn, 1)
	other := newClient(t, site, dsn, 1)
	held, err := other.Mutex("a", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			lease, err := c.Mutex("a", &lock.MutexOptions{Wait: 10 * time.Second}).Lock(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	keepBusy(t, other)
	if err := held.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	all.Wait()
}

// listenersTakeAll has two clients of one pool listen: one of them would take the last connection.
func listenersTakeAll(t *testing.T, site *sqltest.Site, dsn string) {
	db := site.Connect(t, dsn)
	db.SetMaxOpenConns(2)
	refused := 0
	for i := range 2 {
		b, err := open(db)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		waiter := waiterOf(t, b)
		if _, err := waiter.Watch(t.Context(), "a", driver.Mutex); errors.Is(err, remote.ErrNoSpare) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := b.Acquire(ctx, sqltest.Request(strconv.Itoa(i), "o:1")); err != nil {
			t.Errorf("%d listen: %v", i+1-refused, err)
		}
	}
	if refused != 1 {
		t.Errorf("%d of 2 may not listen", refused)
	}
}

// busyPoolIsDeafForEver has the pool used up when somebody first waits: those who wait afterwards are told of releases.
func busyPoolIsDeafForEver(t *testing.T, site *sqltest.Site, dsn string) {
	db := site.Connect(t, dsn)
	db.SetMaxOpenConns(3)
	b, err := open(db)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1")); err != nil { // it makes the tables
		t.Fatal(err)
	}
	var busy [2]*sql.Conn
	for i := range busy {
		if busy[i], err = db.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	waiter := waiterOf(t, b)
	_, err = waiter.Watch(t.Context(), "a", driver.Mutex)
	if !errors.Is(err, remote.ErrNoSpare) || errors.Is(err, driver.ErrUnsupported) {
		t.Fatalf("while the pool is used up: %v", err)
	}
	for _, c := range busy {
		_ = c.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for err != nil && sleep.For(ctx, 100*time.Millisecond) {
		_, err = waiter.Watch(ctx, "a", driver.Mutex)
	}
	if err != nil {
		t.Errorf("5 s after the pool is free again: %v", err)
	}
}

// breakInABusyPool ends the connection of who listens while others keep all the rest: those who wait must look
// themselves until there is another.
func breakInABusyPool(t *testing.T, site *sqltest.Site, dsn string) {
	db := site.Connect(t, dsn)
	db.SetMaxOpenConns(2)
	b, err := open(db)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	waiter := waiterOf(t, b)
	w, err := waiter.Watch(t.Context(), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	busy, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	site.Execute(t, dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "+
		"WHERE datname = current_database() AND query LIKE 'LISTEN%'")
	for range 2 {
		select {
		case <-w.C():
		case <-time.After(8 * time.Second):
			t.Fatal("who waits is not told to look")
		}
	}
}

// deletedRowIsNotToldOf has somebody delete a row, and the lock taken and given back before that is noticed.
func deletedRowIsNotToldOf(t *testing.T, site *sqltest.Site, dsn string) {
	a, b := site.Backend(t, dsn, open), site.Backend(t, dsn, open)
	defer a.Close()
	defer b.Close()
	waiter := waiterOf(t, b)
	w, err := waiter.Watch(t.Context(), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	site.Execute(t, dsn, "DELETE FROM bedrock_locks")
	g, err := a.Acquire(t.Context(), sqltest.Request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.C():
	case <-time.After(5 * time.Second):
		t.Error("nobody tells of the release for 5 s")
	}
}

// keepBusy has a client do something for long enough that others have come to wait.
func keepBusy(t *testing.T, c *lock.Client) {
	t.Helper()
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		lease, err := c.Mutex("something else", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// accountMayNotMakeTables is told what somebody else should run; then it can use them.
func accountMayNotMakeTables(t *testing.T, site *sqltest.Site, dsn string) {
	site.Execute(t, dsn, "CREATE ROLE weak LOGIN PASSWORD 'weak'", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	weak := strings.Replace(dsn, "bedrock:open-sesame", "weak:weak", 1)
	b := site.Backend(t, weak, open)
	defer b.Close()
	_, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "CREATE TABLE") {
		t.Fatal(err)
	}
	text, err := postgres.Schema(nil)
	if err != nil {
		t.Fatal(err)
	}
	site.Execute(t, dsn, text)
	site.Execute(t, dsn, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO weak")
	if _, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1")); err != nil {
		t.Error(err)
	}
	site.Execute(t, dsn, "REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public FROM weak")
	if _, err := b.Acquire(t.Context(), sqltest.Request("b", "o:1")); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("an account that may only read: %v", err)
	}
}

func droppedTablesStayAway(t *testing.T, site *sqltest.Site, dsn string) {
	b := site.Backend(t, dsn, open)
	defer b.Close()
	g, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	site.Execute(t, dsn, "DROP TABLE bedrock_locks, bedrock_locks_holders, bedrock_locks_about")
	next, err := b.Acquire(t.Context(), sqltest.Request("a", "o:2"))
	if err != nil || next.Token <= g.Token {
		t.Errorf("token %d after %d: %v", next.Token, g.Token, err)
	}
}

// waiterLosesItsConnection has the release come while nobody listens.
func waiterLosesItsConnection(t *testing.T, site *sqltest.Site, dsn string) {
	c, other := newClient(t, site, dsn, 4), newClient(t, site, dsn, 4)
	held, err := other.Mutex("a", &lock.MutexOptions{TTL: time.Hour}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := c.Mutex("a", &lock.MutexOptions{Wait: time.Minute}).Lock(t.Context())
		waits <- err
	}()
	db := site.Connect(t, dsn)
	listens := "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' OR " +
		"datname = current_database() AND query LIKE '%pg_backend_pid%' AND pid <> pg_backend_pid()"
	for n := 0; n == 0; {
		if err := db.QueryRow("SELECT count(*) " + listens).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	keepBusy(t, other)
	site.Execute(t, dsn, "SELECT pg_terminate_backend(pid) "+listens)
	if err := held.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	began := time.Now()
	if err := <-waits; err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("it took %v: %v", time.Since(began), err)
	}
}

// refusalNamesOneWhoHasGone has three wait for a row: who has the lock, to give it back, and two who want it.
func refusalNamesOneWhoHasGone(t *testing.T, site *sqltest.Site, dsn string) {
	b := site.Backend(t, dsn, open)
	defer b.Close()
	g, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	db := site.Connect(t, dsn)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec("SELECT 1 FROM bedrock_locks WHERE name = 'a' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 2)
	for n, request := range []func(){
		func() { _, _ = b.Release(t.Context(), g) },
		func() { _, err := b.Acquire(t.Context(), sqltest.Request("a", "p:1")); refused <- err },
		func() { _, err := b.Acquire(t.Context(), sqltest.Request("a", "q:1")); refused <- err },
	} {
		go request()
		waitForBlocked(t, db, n+1)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		held, ok := errors.AsType[*driver.HeldError](<-refused)
		if ok && (held.Owner == "o:1" || held.TTL < 50*time.Second) {
			t.Errorf("%s has it for %v; o:1 has given it back, and the other has it for a minute", held.Owner, held.TTL)
		}
	}
}

// waitForBlocked waits until so many wait for a row.
func waitForBlocked(t *testing.T, db *sql.DB, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for n := 0; n < want; runtime.Gosched() {
		err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity "+
			"WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// silentInATransaction has a client have a row, and say nothing any more: others get by within seconds.
func silentInATransaction(t *testing.T, site *sqltest.Site, dsn string) {
	b := site.Backend(t, dsn, open)
	defer b.Close()
	g, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := site.Connect(t, dsn).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, s := range []string{
		"SELECT set_config('idle_in_transaction_session_timeout', '1s', true)",
		"SELECT 1 FROM bedrock_locks WHERE name = 'a' FOR UPDATE",
	} {
		if _, err := tx.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = b.Release(ctx, g)
	if took := time.Since(began); err == nil || took > 400*time.Millisecond {
		t.Errorf("it took %v: %v", took, err)
	}
	if _, err := b.Release(t.Context(), g); err != nil {
		t.Error(err)
	}
}

// dangerIsFine asks what is wrong with a server that forgets, and with an account that only reads.
func dangerIsFine(t *testing.T, site *sqltest.Site, dsn string) {
	first := site.Backend(t, dsn, open)
	defer first.Close()
	if _, err := first.Acquire(t.Context(), sqltest.Request("a", "o:1")); err != nil { // it makes the tables
		t.Fatal(err)
	}
	for _, setting := range []string{"synchronous_commit=off", "default_transaction_read_only=on"} {
		b := site.Backend(t, dsn+"&"+setting, open)
		defer b.Close()
		check, ok := b.(driver.Checker)
		if !ok {
			t.Fatalf("%T is no Checker", b)
		}
		found, err := check.Check(t.Context())
		name, _, _ := strings.Cut(setting, "=")
		if err != nil || found[0].Level != driver.Danger || !strings.HasPrefix(found[0].What, name) {
			t.Errorf("%s: %+v, %v", setting, found, err)
		}
	}
}

// TestConformanceInOtherIsolation: what the database's default is does not matter.
func TestConformanceInOtherIsolation(t *testing.T) {
	conforms(t, "-c", "default_transaction_isolation=serializable")
}
