package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// TestDeadOwnersLeaseIsWaitedFor: whoever has the file to himself knows that those who
// had it before are dead, and waits for nobody's lease.
func TestDeadOwnersLeaseIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bedrock.db")
	before := open(t, path, nil)
	later := time.Now().Add(time.Hour)
	leave := func(id string, status driver.Status, change func(*driver.Record)) {
		rec := record(id)
		rec.Status, rec.Owner, rec.Epoch, rec.Due = status, "dead", 1, later
		change(rec)
		if err := before.Create(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range []driver.Status{driver.Running, driver.Committing, driver.RollingBack} {
		leave(string(status), status, func(*driver.Record) {})
	}
	leave("asked after", driver.Open, func(r *driver.Record) { r.Epoch = 2 })
	leave("begun", driver.Open, func(*driver.Record) {})
	leave("waits for its time", driver.Running, func(r *driver.Record) { r.Owner = "" })
	leave("parked", driver.Running, func(r *driver.Record) { r.Parked, r.Due = "help", time.Time{} })
	leave("final", driver.Committed, func(r *driver.Record) { r.Due = time.Time{} })
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	after := open(t, path, nil)
	claimed, err := after.Claim(t.Context(), driver.Claim{Owner: "next", Lease: time.Minute, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"running": true, "committing": true, "rolling-back": true, "asked after": true}
	for _, rec := range claimed.Records {
		if !want[rec.ID] {
			t.Errorf("%q was taken over or twice so", rec.ID)
		}
		delete(want, rec.ID)
	}
	for id := range want {
		t.Errorf("%q waits for the lease of a dead owner", id)
	}
}

// TestLeaseOfTheLivingIsBroken: a file that is shared may have other owners.
func TestLeaseOfTheLivingIsBroken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bedrock.db")
	shared := &sqlite.Options{Shared: true}
	rec := record("a")
	rec.Owner, rec.Epoch, rec.Due = "alive", 1, time.Now().Add(time.Hour)
	if err := open(t, path, shared).Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	claimed, err := open(t, path, shared).Claim(t.Context(), driver.Claim{Owner: "next", Lease: time.Minute, Limit: 1})
	if err != nil || len(claimed.Records) > 0 {
		t.Errorf("claimed %d records, %v", len(claimed.Records), err)
	}
}

// TestFileIsOpenedTwice: two that take the file for their own would break each other's
// leases.
func TestFileIsOpenedTwice(t *testing.T) {
	for name, c := range map[string]struct{ first, second bool }{
		"own, own": {}, "own, shared": {second: true}, "shared, own": {first: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bedrock.db")
			first := open(t, path, &sqlite.Options{Shared: c.first})
			second, err := sqlite.Open(t.Context(), path, &sqlite.Options{Shared: c.second})
			if !errors.Is(err, sqlite.ErrInUse) {
				t.Errorf("opened again: %v, want %v", err, sqlite.ErrInUse)
			}
			if err == nil {
				second.Close()
			}
			if err := errors.Join(first.Create(t.Context(), record("a")), first.Close()); err != nil {
				t.Error(err)
			}
			open(t, path, &sqlite.Options{Shared: c.second})
		})
	}
}

// TestKilledOwnerKeepsTheFile: the file is free as soon as its process is dead, and what
// that had under way is taken up at once.
func TestKilledOwnerKeepsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bedrock.db")
	t.Setenv(asOwner, "1")
	ids := killAfter(t, path, 1)
	if len(ids) == 0 {
		t.Fatal("the owner wrote nothing")
	}
	store := open(t, path, nil)
	claimed, err := store.Claim(t.Context(), driver.Claim{Owner: "next", Lease: time.Minute, Limit: 1})
	if err != nil || len(claimed.Records) == 0 {
		t.Errorf("claimed %d records, %v", len(claimed.Records), err)
	}
}
