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

const (
	// toldEvery is the time between two lines about the same trouble.
	toldEvery = time.Minute
	// troubleFresh is how long a failure counts when nobody tries again: longer than two
	// tries are apart of whoever goes on. Without an end, a replica that is sent no calls
	// because its store fails would never learn that it does not fail any more.
	troubleFresh = 2 * storeTimeout
)

// deed is what was asked of the store. One kind says little about another: a disk that
// is full is still read, and a claim that finds nothing writes nothing.
type deed uint8

const (
	toRead deed = 1 << iota
	toClaim
	toWrite
)

// trouble tells of a store that does not do its work: once when that begins, once a
// minute while it lasts, and once when everything works again that had failed. Every
// transaction under way sees it several times a second, and none of them can do anything
// about it.
type trouble struct {
	log   *slog.Logger
	lasts atomic.Bool

	mu       sync.Mutex
	since    time.Time
	told     time.Time // the last line that said so
	failing  deed      // what has failed, and has not succeeded since
	failed   time.Time // the last time
	err      error     // and why
	failures int
	quiet    bool // it began too soon after the last one for a line
}

// saw takes note of how a call to the store has ended, and passes it on. What its
// caller has ended says nothing about the store; refusals say that it answers.
func (t *trouble) saw(ctx context.Context, did deed, err error) error {
	switch {
	case err == nil:
		t.works(did | toRead)
	case refusal(err):
		t.works(toRead) // nothing was written
	case ctx.Err() == nil:
		t.goesOn(did, err)
	}
	return err
}

// refusal tells whether an error is the store's answer.
func refusal(err error) bool {
	return errors.Is(err, driver.ErrStale) || errors.Is(err, driver.ErrExists) || errors.Is(err, driver.ErrNotFound) ||
		errors.Is(err, driver.ErrRefused)
}

func (t *trouble) goesOn(did deed, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if !t.lasts.Load() {
		t.lasts.Store(true)
		t.since, t.failures, t.quiet = now, 0, true
	}
	t.failures++
	t.failing, t.failed, t.err = t.failing|did, now, err
	if !t.told.IsZero() && now.Sub(t.told) < toldEvery {
		return
	}
	t.told, t.quiet = now, false
	t.log.Warn("store fails; trying again", "err", err, "failures", t.failures, "for", now.Sub(t.since))
}

// works enters what has succeeded. It is over when nothing is left that has failed.
func (t *trouble) works(done deed) {
	if !t.lasts.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failing &^= done
	if t.failing != 0 || !t.lasts.Swap(false) || t.quiet {
		return
	}
	t.log.Info("store works again", "failures", t.failures, "after", time.Since(t.since))
}

// now is why the store fails; nil if it does not, or nobody has met that lately.
func (t *trouble) now() error {
	if !t.lasts.Load() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.lasts.Load() || time.Since(t.failed) > troubleFresh {
		return nil
	}
	return t.err
}

// Trouble says why the store fails to do what this coordinator asks of it; nil if it does
// not. It asks nobody: it is what was seen in the last ten seconds and has not gone well
// since. A store that is read and cannot be written fails.
func (c *Coordinator) Trouble() error { return c.trouble.now() }
