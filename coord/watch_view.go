package coord

import (
	"context"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// view is what the watchers of a transaction share. It lasts from the first of them to the
// last. It holds the newest only, so a watcher that is slow skips what came before.
type view struct {
	id       string
	watchers int // guarded by views
	stop     context.CancelFunc

	mu     sync.Mutex
	newest *txn.Transaction // never changed, only replaced; nil: nothing was read yet
	err    error            // there will be nothing more
	turned chan struct{}    // closed when one of them has changed
}

// showNewest shows all watchers a newer state, or the error that ends the view.
func (v *view) showNewest(t *txn.Transaction, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t != nil {
		v.newest = t
	}
	v.err = err
	close(v.turned)
	v.turned = make(chan struct{})
}

// waitNewer waits for something newer than what was seen, and returns a copy of its own.
func (v *view) waitNewer(ctx context.Context, seen version) (*txn.Transaction, error) {
	for {
		v.mu.Lock()
		t, err, turned := v.newest, v.err, v.turned
		v.mu.Unlock()
		switch {
		case t != nil && seen.before(versionOf(t)):
			return t.Clone(), nil
		case err != nil:
			return nil, err
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// version is a state of a transaction. An ID that was removed and is used again has
// another life, created later.
type version struct {
	created  time.Time
	revision int64
}

func versionOf(t *txn.Transaction) version { return version{t.Created, t.Revision} }

func (v version) before(other version) bool {
	if !v.created.Equal(other.created) {
		return v.created.Before(other.created)
	}
	return v.revision < other.revision
}
