package sqltest

import (
	"bytes"
	"context"
	"errors"
	"path"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// FrozenClient freezes a coordinator when it has locked a record that others are to
// take over: amid a claim, be its answer small or larger than what fits into the
// buffers on the way, and amid a batch. They have to wait, but for seconds only;
// one of them gets through, and the other is told that it has not. The subject's
// stores connect to the address it is made for, instead of the server's; in their
// batches it is the statement with the word given that locks.
func FrozenClient(t *testing.T, server string, subject func(t testing.TB, addr string) Subject, word string) {
	claim := func(ctx context.Context, store *sqlstore.Store, _ *driver.Record) error {
		_, err := store.Claim(ctx, driver.Claim{Owner: "frozen", Lease: time.Hour, Limit: 100})
		return err
	}
	update := func(ctx context.Context, store *sqlstore.Store, rec *driver.Record) error {
		return store.Update(ctx, rec.Version(), rec)
	}
	const large = 256 << 10 // bytes in each record
	for name, test := range map[string]struct {
		word string
		size int
		call call
	}{
		"claim": {"SKIP LOCKED", 0, claim},
		"large": {"SKIP LOCKED", large, claim},
		"batch": {word, 0, update},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			f := newFreezer(t, server)
			frozenAmid(t, subject(t, f.addr()), f, test.word, test.size, test.call)
		})
	}
}

type call func(context.Context, *sqlstore.Store, *driver.Record) error

// frozenAmid freezes a caller that has locked the first record, at least.
func frozenAmid(t *testing.T, s Subject, f *freezer, word string, size int, call call) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	opts := &sqlstore.Options{Table: "amid_" + path.Base(t.Name())}
	store, other := s.Store(t, opts), s.Store(t, opts)
	rec := created(ctx, t, store, "first", 0)
	for i := range 50 {
		created(ctx, t, store, numbered("r", i), size)
	}
	told := make(chan error, 1)
	frost := f.freezeAt(word)
	go func() { told <- call(ctx, store, rec.Clone()) }()
	select {
	case <-frost.set:
	case <-ctx.Done():
		t.Fatalf("nobody sent %q", word)
	}
	waitingErr := takesOver(ctx, t, other, rec)
	close(frost.thawed)
	frozenErr := <-told
	if (waitingErr == nil) == (frozenErr == nil) || !nothingWritten(frozenErr) || !nothingWritten(waitingErr) {
		t.Errorf("who was frozen: %v; who waited: %v", frozenErr, waitingErr)
	}
}

// created creates a record whose state has a size.
func created(ctx context.Context, t *testing.T, store *sqlstore.Store, id string, size int) *driver.Record {
	t.Helper()
	rec := dueRecord(id)
	rec.State = bytes.Repeat([]byte("s"), size)
	if err := store.Create(ctx, rec); err != nil {
		t.Fatal(err)
	}
	return rec
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

// nothingWritten: an error, if any, says that nothing was written.
func nothingWritten(err error) bool {
	return err == nil || errors.Is(err, driver.ErrStale) || errors.Is(err, driver.ErrUnavailable)
}
