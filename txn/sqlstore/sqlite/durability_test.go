package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// TestConnections: no test can cut the power, but every connection must ask for what
// keeps the file in order then.
func TestConnections(t *testing.T) {
	path, err := create(filepath.Join(t.TempDir(), "bedrock.db"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := connect(source(path, (*Options)(nil).filled()), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for pragma, want := range map[string]string{
		"synchronous": "1", "journal_mode": "wal", "fullfsync": "1", "busy_timeout": "10000",
	} {
		var got string
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, want %s: %v", pragma, got, want, err)
		}
	}
}

// TestSyncFlushesTheLog: it has to be the file that commits are in.
func TestSyncFlushesTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bedrock.db")
	store, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := size(t, path+"-wal")
	if err := store.Create(t.Context(), newRecord()); err != nil {
		t.Fatal(err)
	}
	if after := size(t, path+"-wal"); after <= before {
		t.Errorf("the log has %d bytes after a commit, and had %d before", after, before)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	// Nothing is in the log any more, and nobody may be told that it was flushed.
	if log, err := logOf(path); !os.IsNotExist(err) {
		t.Errorf("%v: want an error because there is no log", err)
		log.Close()
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func newRecord() *driver.Record {
	now := time.Now()
	return &driver.Record{
		ID: "a", Mode: "saga", Status: driver.Running, Owner: "one", Epoch: 1,
		Due: now, Created: now, Updated: now, Spec: []byte("{}"), State: []byte("{}"),
	}
}

// slow is a database whose disk takes as long as a test wants.
type slow struct {
	*dialect

	flushing chan struct{} // receives when a flush begins
	flush    chan error
}

func (d *slow) Sync() error {
	d.flushing <- struct{}{}
	return <-d.flush
}

// flushAll is a disk that has nothing more to hold it up.
func (d *slow) flushAll() {
	for range d.flushing {
		d.flush <- nil
	}
}

func openSlow(t *testing.T) (*slow, *sqlstore.Store) {
	t.Helper()
	path, err := create(filepath.Join(t.TempDir(), "bedrock.db"))
	if err != nil {
		t.Fatal(err)
	}
	own, db, err := databases(t.Context(), path, (*Options)(nil).filled())
	if err != nil {
		t.Fatal(err)
	}
	d := &slow{own, make(chan struct{}), make(chan error)}
	store, err := sqlstore.Open(t.Context(), d, db, &sqlstore.Options{Writers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d, store
}

// TestReadsWaitForTheDisk: what is read may be acted on, so it must not be undone by
// a loss of power.
func TestReadsWaitForTheDisk(t *testing.T) {
	reads := map[string]func(ctx context.Context, s *sqlstore.Store) error{
		"load": func(ctx context.Context, s *sqlstore.Store) error { _, err := s.Load(ctx, "a"); return err },
		"list": func(ctx context.Context, s *sqlstore.Store) error {
			_, err := s.List(ctx, driver.Query{})
			return err
		},
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			d, s := openSlow(t)
			created, seen := make(chan error, 1), make(chan error, 1)
			go func() { created <- s.Create(t.Context(), newRecord()) }()
			<-d.flushing // so it is committed
			go func() { seen <- read(t.Context(), s) }()
			brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := read(brief, s); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v: want a read to wait for the disk as long as it may", err)
			}
			d.flush <- nil
			go d.flushAll()
			if err := errors.Join(<-created, <-seen); err != nil {
				t.Error(err)
			}
			if err := read(t.Context(), s); err != nil {
				t.Errorf("%v: want a read of what is durable to wait for nothing", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			close(d.flushing)
		})
	}
}

// TestNothingIsReadAfterALostFlush: what is in the file may be gone when it is opened
// again.
func TestNothingIsReadAfterALostFlush(t *testing.T) {
	d, s := openSlow(t)
	lost := errors.New("input/output error")
	created := make(chan error, 1)
	go func() { created <- s.Create(t.Context(), newRecord()) }()
	<-d.flushing
	d.flush <- lost
	if err := <-created; !errors.Is(err, lost) {
		t.Errorf("create: %v, want %v", err, lost)
	}
	if _, err := s.Load(t.Context(), "a"); !errors.Is(err, lost) || !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("load: %v, want the store to be unavailable because of %v", err, lost)
	}
	tx, err := d.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateTx(t.Context(), tx, newRecord()); !errors.Is(err, lost) ||
		!errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("create in a transaction: %v, want the store to be unavailable because of %v", err, lost)
	}
	if err := errors.Join(tx.Rollback(), s.Close()); err != nil {
		t.Error(err)
	}
}

// TestClaimsAndDeletionsSync: they are commits like others.
func TestClaimsAndDeletionsSync(t *testing.T) {
	d, s := openSlow(t)
	done := make(chan error, 1)
	synced := func(what string, fn func() error) {
		t.Helper()
		go func() { done <- fn() }()
		select {
		case <-d.flushing:
			d.flush <- nil
		case err := <-done:
			t.Fatalf("%s: answered without a flush: %v", what, err)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	rec := newRecord()
	synced("create", func() error { return s.Create(t.Context(), rec) })
	synced("claim", func() error {
		claimed, err := s.Claim(t.Context(), driver.Claim{Owner: "two", Lease: time.Minute, Limit: 1})
		rec = claimed.Records[0]
		return err
	})
	rec.Status, rec.Due, rec.Finished = driver.Committed, time.Time{}, time.Now()
	synced("update", func() error { return s.Update(t.Context(), rec.Version(), rec) })
	synced("delete", func() error {
		_, err := s.Delete(t.Context(), []driver.Ref{{ID: rec.ID, Version: rec.Version()}})
		return err
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
