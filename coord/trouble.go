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
	// logEvery is the time between two lines about the same trouble.
	logEvery = time.Minute
	// troubleFresh is how long a failure counts when the store is not asked again: longer
	// than the time between two tries. Without an end, a replica that gets no requests
	// because its store fails would never learn that the store works again.
	troubleFresh = 2 * storeTimeout
)

// access is a kind of request to the store. One kind says little about another: a disk that
// is full is still read, and a claim that finds nothing writes nothing.
type access uint8

const (
	toRead access = 1 << iota
	toClaim
	toWrite
)

// trouble tells of a store that does not do its work: once when that begins, once a minute
// while it lasts, and once when everything works again that had failed. Every transaction
// under way meets it several times a second and can do nothing about it, so none of them
// logs it.
type trouble struct {
	log   *slog.Logger
	lasts atomic.Bool

	mu       sync.Mutex
	since    time.Time
	told     time.Time // the last line that said so
	failing  access    // what has failed, and has not succeeded since
	failed   time.Time // the last time
	err      error     // and why
	failures int
	quiet    bool // it began too soon after the last one for a line
}

// noteResult takes note of how a call to the store has ended, and returns its error. A call
// that its caller has ended says nothing about the store; a refusal says that the store
// answers.
func (t *trouble) noteResult(ctx context.Context, did access, err error) error {
	switch {
	case err == nil:
		t.noteSuccess(did | toRead)
	case isRefusal(err):
		t.noteSuccess(toRead) // nothing was written
	case ctx.Err() == nil:
		t.noteFailure(did, err)
	}
	return err
}

// isRefusal reports whether an error is the store's answer.
func isRefusal(err error) bool {
	return errors.Is(err, driver.ErrStale) || errors.Is(err, driver.ErrExists) || errors.Is(err, driver.ErrNotFound) ||
		errors.Is(err, driver.ErrRefused)
}

func (t *trouble) noteFailure(did access, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if !t.lasts.Load() {
		t.lasts.Store(true)
		t.since, t.failures, t.quiet = now, 0, true
	}
	t.failures++
	t.failing, t.failed, t.err = t.failing|did, now, err
	if !t.told.IsZero() && now.Sub(t.told) < logEvery {
		return
	}
	t.told, t.quiet = now, false
	t.log.Warn("store fails; trying again", "err", err, "failures", t.failures, "for", now.Sub(t.since))
}

// noteSuccess takes note of what has succeeded. The trouble is over when all that had
// failed has succeeded again.
func (t *trouble) noteSuccess(done access) {
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

// current says why the store fails; nil if it does not, or was not seen to fail lately.
func (t *trouble) current() error {
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
// not. It does not ask the store: it tells what has failed in the last ten seconds and has
// not succeeded since. A store that can be read and not written fails.
func (c *Coordinator) Trouble() error { return c.trouble.current() }
