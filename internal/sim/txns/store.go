package txns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// window is the store as one life of a replica sees it.
type window struct {
	*sim.Link
	store *memstore.Store
	judge *judge
	seed  sim.Seed
	dead  chan struct{} // closed when the replica has died
}

var _ driver.Store = (*window)(nil)

var errDead = errors.New("the replica is dead")

// answer is what the server says.
type answer[T any] struct {
	value T
	err   error
}

// askStore makes one request.
func askStore[T any](ctx context.Context, w *window, text string, serve func() (T, error)) (T, error) {
	var none T
	if w.isDead() {
		return none, errDead
	}
	w.judge.countAsk(w.ID)
	a, err := sim.Call(ctx, w.Link, text, func() answer[T] {
		if w.isDead() {
			return answer[T]{err: errDead}
		}
		value, err := serve()
		return answer[T]{value, err}
	})
	switch {
	case errors.Is(err, sim.ErrNotSent):
		return none, fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	case err != nil:
		return none, err
	default:
		return a.value, a.err
	}
}

func (w *window) isDead() bool {
	select {
	case <-w.dead:
		return true
	default:
		return false
	}
}

// background is the context of what the server does: it does not end with its
// caller's.
func background() context.Context { return context.Background() }

// Create implements [driver.Store].
func (w *window) Create(ctx context.Context, rec *driver.Record) error {
	sent := rec.Clone()
	_, err := askStore(ctx, w, "create "+rec.ID, func() (int64, error) {
		copied := sent.Clone()
		err := w.store.Create(background(), copied)
		if err == nil {
			w.judge.wrote(copied)
		}
		return copied.Revision, err
	})
	if err == nil {
		rec.Revision = 1
	}
	return err
}

// Load implements [driver.Store].
func (w *window) Load(ctx context.Context, id string) (*driver.Record, error) {
	return askStore(ctx, w, "load "+id, func() (*driver.Record, error) { return w.store.Load(background(), id) })
}

// Update implements [driver.Store].
func (w *window) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	sent := rec.Clone()
	if rec.Spec == nil {
		sent.Spec = nil
	}
	revision, err := askStore(ctx, w, fmt.Sprintf("update %s %d to %s", rec.ID, was.Revision, rec.Status),
		func() (int64, error) {
			copied := *sent
			err := w.store.Update(background(), was, &copied)
			if err == nil {
				w.judge.wrote(&copied)
			}
			return copied.Revision, err
		})
	if err == nil {
		rec.Revision = revision
	}
	return err
}

// poll is what the question for whatever is due is called.
const poll = "claim"

// Claim implements [driver.Store]. It hands over one record at a time: runs that
// begin at the same instant would race for slots and for probes, and no run of the
// simulation would go the same way twice.
func (w *window) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	text := poll
	c.Limit = min(c.Limit, 1)
	if c.Target != "" || c.To != 0 {
		text = fmt.Sprintf("claim %d-%d %s", c.From, c.To, c.Target)
	}
	return askStore(ctx, w, text, func() (driver.Claimed, error) {
		claimed, err := w.store.Claim(background(), c)
		for _, rec := range claimed.Records {
			w.judge.wrote(rec)
		}
		return claimed, err
	})
}

// Now implements [driver.Store].
func (w *window) Now(ctx context.Context) (time.Time, error) {
	return askStore(ctx, w, "clock", func() (time.Time, error) { return w.store.Now(background()) })
}

// List implements [driver.Store].
func (w *window) List(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	return askStore(ctx, w, "list", func() ([]*driver.Record, error) { return w.store.List(background(), q) })
}

// Delete implements [driver.Store].
func (w *window) Delete(ctx context.Context, refs []driver.Ref) (int, error) {
	return askStore(ctx, w, "delete", func() (int, error) { return w.store.Delete(background(), refs) })
}

// Close implements [driver.Store].
func (w *window) Close() error { return nil }

// Draw implements chance.Source.
func (w *window) Draw(n time.Duration) time.Duration {
	return w.seed.At(uint64(w.judge.report.Now()), uint64(n)).Between(0, n)
}
