package sqltest

import (
	"context"
	"errors"
	"path"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// FrozenClient freezes a coordinator amid a claim, and amid a batch, when it has
// locked a record that others are to take over. They have to wait for it, but for
// seconds only; and one of them gets through, and the others are told that they
// have not. The subject's stores connect to the freezer; in their batches it is the
// statement with the word given that locks.
func FrozenClient(t *testing.T, s Subject, f *Freezer, word string) {
	t.Run("claim", func(t *testing.T) {
		frozenAmid(t, s, f, "SKIP LOCKED", func(ctx context.Context, store *sqlstore.Store, _ *driver.Record) error {
			_, err := store.Claim(ctx, driver.Claim{Owner: "frozen", Lease: time.Hour, Limit: 10})
			return err
		})
	})
	t.Run("batch", func(t *testing.T) {
		frozenAmid(t, s, f, word, func(ctx context.Context, store *sqlstore.Store, rec *driver.Record) error {
			return store.Update(ctx, rec.Version(), rec)
		})
	})
}

func frozenAmid(t *testing.T, s Subject, f *Freezer, word string, call func(context.Context, *sqlstore.Store, *driver.Record) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	opts := &sqlstore.Options{Table: "amid_" + path.Base(t.Name())}
	store, other := s.open(t, opts), s.open(t, opts)
	rec := record("a")
	if err := store.Create(ctx, rec); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	locked := f.freezeAt(word)
	go func() { told <- call(ctx, store, rec.Clone()) }()
	select {
	case <-locked:
	case <-ctx.Done():
		t.Fatalf("nobody sent %q", word)
	}
	waitingErr := takesOver(ctx, t, other, rec)
	frozenErr := <-told
	if (waitingErr == nil) == (frozenErr == nil) || !failed(frozenErr) || !failed(waitingErr) {
		t.Errorf("who was frozen: %v; who waited: %v", frozenErr, waitingErr)
	}
}

// takesOver writes a record, which takes seconds at most.
func takesOver(ctx context.Context, t *testing.T, store *sqlstore.Store, rec *driver.Record) error {
	t.Helper()
	const limit = 10 * time.Second
	start := time.Now()
	err := store.Update(ctx, rec.Version(), rec)
	if took := time.Since(start); took > limit {
		t.Errorf("waited for %v: %v", took, err)
	}
	return err
}

// failed: an error, if any, says that nothing was written.
func failed(err error) bool {
	return err == nil || errors.Is(err, driver.ErrStale) || errors.Is(err, driver.ErrUnavailable)
}
