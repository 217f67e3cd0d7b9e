package lock

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// minHoldLeft returns how much of the minimum hold time is left, by the clock by which the
// lease is judged: it goes on while the machine sleeps.
func (h *hold) minHoldLeft(now time.Duration) time.Duration {
	if h.want.minHold == 0 {
		return 0
	}
	return h.want.minHold - (now - h.since)
}

// keepFor leaves the grant in the backend for the rest of the minimum hold time. While
// it is not certain that the backend knows, that goes on in the background.
func (h *hold) keepFor(ctx context.Context, now, rest time.Duration) error {
	c := h.q.client
	c.renewer.keepUntil(h, now+rest)
	err := h.keepOnce(&h.call, rest)
	unsure := err != nil && !errors.Is(err, driver.ErrLost)
	if unsure || h.doubt != nil {
		c.finishLater(h.grant.Name, h.keepOn)
	}
	switch {
	case err == nil:
		return nil
	case !unsure:
		return opError("unlock", h.grant.Name, ErrLost)
	case isRefusal(err):
		return opError("not kept for the minimum hold time, it runs out by itself", h.grant.Name, err)
	default:
		return opError("keep for the minimum hold time", h.grant.Name, outcome.Unknown(h.unanswered(ctx, now, err)))
	}
}

func (h *hold) keepOnce(ctx context.Context, rest time.Duration) error {
	kept := h.grant
	kept.TTL = max(rest, driver.MinRest)
	return h.q.client.backend.Renew(ctx, []driver.Grant{kept})[0]
}

// keepOn keeps the grant until the backend has answered; and once more after copies
// of its request that were on their way, for they make its life longer again.
func (h *hold) keepOn() {
	c := h.q.client
	h.keepAgain()
	if h.doubt != nil && h.doubt.Wait(c.background) && c.sleep(settle.Pause) {
		h.keepAgain()
	}
}

// keepAgain asks the backend until it answers. If the time for which the grant is kept
// is over before, it is released: it may have a whole life yet. Its holder has been
// told already.
func (h *hold) keepAgain() {
	c := h.q.client
	for pause := settle.Pause; ; pause = min(pause*2, settle.Limit) {
		left := h.kept - c.now()
		if left <= 0 {
			c.releaseUnknown(h.grant, h.doubt)
			return
		}
		if isAnswered(h.keepInBackground(left)) || !c.sleep(min(pause, left)) {
			return
		}
	}
}

func (h *hold) keepInBackground(left time.Duration) error {
	ctx, cancel := context.WithTimeout(h.q.client.background, settle.Call)
	defer cancel()
	return h.keepOnce(ctx, left)
}

// isAnswered reports whether asking again would change nothing.
func isAnswered(err error) bool {
	return err == nil || errors.Is(err, driver.ErrLost) || errors.Is(err, driver.ErrRefused)
}
