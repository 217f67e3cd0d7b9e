// Package settle cleans up after acquisitions whose outcome is not known: the front
// does so for the callers of this process, and a server for those on the network.
package settle

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// How an unknown outcome is settled.
const (
	Call  = 5 * time.Second        // the longest one release may take
	Pause = 50 * time.Millisecond  // between releases, growing
	Limit = 500 * time.Millisecond // up to this
	extra = 2 * time.Second        // beyond the grant's own life
)

// Settler makes sure that the owner of a grant nobody wants does not keep others out:
// a request whose answer was lost, that was given up, or that may still be on its way.
type Settler struct {
	Backend driver.Backend
	Log     *slog.Logger
	Now     func() time.Duration // since an arbitrary moment
}

// Settle releases at once, for the grant may be there; and again when the requests
// have ended, for it may have come since. It ends when the store has answered that
// often as the doubt demands, when the grant must have run out, or with ctx. Nobody
// may ask under that owner any more. It reports whether the grant is certain to be gone.
func (s *Settler) Settle(ctx context.Context, g driver.Grant, d *Doubt) (gone bool) {
	answers, pause, end := d.answersNeeded(), Pause, time.Duration(0)
	for {
		ended := d.Ended()
		if ended && end == 0 {
			end = s.Now() + g.TTL + extra
		}
		err := s.release(ctx, g)
		switch answered := err == nil || errors.Is(err, driver.ErrLost); {
		case answered && !ended:
			if !d.Wait(ctx) {
				return false
			}
			continue
		case answered:
			if answers--; answers == 0 {
				return true
			}
			pause = Pause
		case errors.Is(err, driver.ErrRefused):
			s.Log.Warn("lock: clean-up refused, the lock ends by itself",
				"name", g.Name, "owner", driver.PublicOwner(g.Owner), "err", err)
			return false
		}
		if !sleep.For(ctx, pause) {
			return false
		}
		if pause = min(pause*2, Limit); ended && s.Now() >= end {
			s.Log.Warn("lock: clean-up given up, the lock ends by itself",
				"name", g.Name, "owner", driver.PublicOwner(g.Owner))
			return true
		}
	}
}

// answersNeeded is how many releases the store must have answered after the end of
// the requests. One does if all of them had been answered; else a copy may be on
// its way in the network still, or lie in front of a server that was frozen.
func (d *Doubt) answersNeeded() int {
	if d == nil {
		return 1
	}
	return 2
}

func (s *Settler) release(ctx context.Context, g driver.Grant) error {
	ctx, cancel := context.WithTimeout(ctx, Call)
	defer cancel()
	_, err := s.Backend.Release(ctx, g)
	return err
}
