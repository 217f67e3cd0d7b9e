package lock

import (
	"context"
	"math"
	"time"
)

// yield holds back until those who are owed a go have had it, or have not come in
// the time they are given. A Lock whose own time is limited gives them no more than
// half of what is left of it, and a TryLock nothing.
func (k *contest) yield(ctx context.Context) error {
	if k.try || k.want.hasCompany() && !k.want.isUpgradeable() || k.isHanded() {
		return nil
	}
	if err := k.accountDeparture(ctx); err != nil {
		return err
	}
	s, c := k.q.share, k.q.client
	if s == nil || s.owed == 0 || c.now() >= s.due() {
		return nil
	}
	left := spare(ctx)
	if left == 0 {
		return nil
	}
	limit := c.now() + left
	k.yielded, k.once = true, true
	for {
		k.q.listens()
		s.passed(k.q.othersReleases(), c.now())
		if s.owed == 0 {
			return nil
		}
		woken, err := k.pauseUntil(ctx, min(s.due(), limit))
		if err != nil || !woken || k.isHanded() {
			return err
		}
	}
}

// askAgain reports whether to ask once more at once. Where everybody is far away, the
// one who went first may be done by the time that the refusal is here.
func (k *contest) askAgain() bool {
	once := k.once
	k.once = false
	return once
}

// othersOut enters that whoever was in when the contest asked last has gone.
func (k *contest) othersOut(now time.Duration) {
	gone := k.q.othersReleases()
	if k.inside {
		k.inside, k.others = false, true
		gone = max(gone, 1)
	}
	k.q.share.passed(gone, now)
}

// enterGrant enters what the grant just had tells of others.
func (k *contest) enterGrant() {
	k.othersOut(k.sent)
	k.q.share.enterGrant(k.sent, k.others, k.yielded)
}

// pauseUntil waits for a wake-up, but not beyond a moment.
func (k *contest) pauseUntil(ctx context.Context, until time.Duration) (woken bool, err error) {
	c := k.q.client
	left := until - c.now()
	if left <= 0 {
		return false, nil
	}
	signal := k.q.hearsSoon()
	if k.q.watch != nil {
		signal = k.q.watch.C()
	}
	err = k.pauseFor(ctx, left, signal)
	return c.now() < until, err
}

// spare returns how much time of a wait may be given to others.
func spare(ctx context.Context) time.Duration {
	end, limited := ctx.Deadline()
	if !limited {
		return math.MaxInt64 / 2
	}
	if left := time.Until(end); left > leastSpare {
		return left / 2
	}
	return 0
}

// leastSpare is how much of a wait must be left for others to be given any of it: half of it, and half of the rest,
// would go on for ever.
const leastSpare = 2 * time.Millisecond
