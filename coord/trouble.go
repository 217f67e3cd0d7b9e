package coord

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// toldEvery is the time between two lines about the same trouble.
const toldEvery = time.Minute

// trouble tells of a store that does not answer: once when that begins, once a minute
// while it lasts, and once when it is over. Every transaction under way sees it several
// times a second, and none of them can do anything about it.
type trouble struct {
	log   *slog.Logger
	lasts atomic.Bool

	mu       sync.Mutex
	since    time.Time
	told     time.Time // the last line that said so
	failures int
	quiet    bool // it began too soon after the last one for a line
}

// saw takes note of how a call to the store has ended, and passes it on. What its
// caller has ended says nothing about the store; refusals say that it answers.
func (t *trouble) saw(ctx context.Context, err error) error {
	switch {
	case err == nil || errors.Is(err, driver.ErrStale) || errors.Is(err, driver.ErrExists) || errors.Is(err, driver.ErrNotFound):
		if t.lasts.Load() {
			t.over()
		}
	case ctx.Err() == nil:
		t.goesOn(err)
	}
	return err
}

func (t *trouble) goesOn(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if !t.lasts.Load() {
		t.lasts.Store(true)
		t.since, t.failures, t.quiet = now, 0, true
	}
	t.failures++
	if !t.told.IsZero() && now.Sub(t.told) < toldEvery {
		return
	}
	t.told, t.quiet = now, false
	t.log.Warn("store does not answer; trying again", "err", err, "failures", t.failures, "for", now.Sub(t.since))
}

func (t *trouble) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.lasts.Swap(false) || t.quiet {
		return
	}
	t.log.Info("store answers again", "failures", t.failures, "after", time.Since(t.since))
}
