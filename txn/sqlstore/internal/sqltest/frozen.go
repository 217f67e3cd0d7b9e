package sqltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// FrozenClient freezes a coordinator amid a claim, and amid a batch, when it has
// locked a record that others are to take over. They have to wait for it, but for
// seconds only; and it is told that it has lost its connection. The subject's
// stores connect to the freezer, whose batches lock by a statement with the word
// given.
func FrozenClient(t *testing.T, s Subject, f *Freezer, word string) {
	for name, test := range map[string]struct {
		word string
		call func(context.Context, *sqlstore.Store, *driver.Record) error
	}{
		"claim": {"SKIP LOCKED", func(ctx context.Context, store *sqlstore.Store, _ *driver.Record) error {
			_, err := store.Claim(ctx, driver.Claim{Owner: "frozen", Lease: time.Hour, Limit: 10})
			return err
		}},
		"batch": {word, func(ctx context.Context, store *sqlstore.Store, rec *driver.Record) error {
			return store.Update(ctx, rec.Version(), rec)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := &sqlstore.Options{Table: "frozen_" + name}
			frozen, other := s.open(t, opts), s.open(t, opts)
			rec := record("a")
			if err := frozen.Create(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			told := make(chan error, 1)
			locked := f.freezeAt(test.word)
			go func() { told <- test.call(ctx, frozen, rec.Clone()) }()
			<-locked
			goesOn(ctx, t, other, rec)
			if err := <-told; !errors.Is(err, driver.ErrUnavailable) && (err != nil || name == "claim") {
				t.Errorf("frozen: %v", err)
			}
		})
	}
}

// goesOn: a record is written, unless the one who was frozen got through.
func goesOn(ctx context.Context, t *testing.T, store *sqlstore.Store, rec *driver.Record) {
	t.Helper()
	const limit = 10 * time.Second
	start := time.Now()
	err := store.Update(ctx, rec.Version(), rec)
	took := time.Since(start)
	if err != nil && !errors.Is(err, driver.ErrStale) || took > limit {
		t.Errorf("after %v: %v", took, err)
	}
	t.Logf("waited %v: %v", took, err)
}
