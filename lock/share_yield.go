package lock

import (
	"context"
	"math"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// yield holds back until those who are owed a go have had it, or have not come in
// the time they are given. A Lock whose own time is limited gives them no more than
// half of what is left of it, and a TryLock nothing.
func (k *contest) yield(ctx context.Context) error {
	if k.try || !k.q.hasTurns() || k.want.hasCompany() && !k.want.isUpgradeable() || k.isNext || k.isHanded() {
		return nil
	}
	if err := k.awaitDepartures(ctx); err != nil {
		return err
	}
	c := k.q.client
	if due, owes := k.owes(); !owes || c.now() >= due {
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
		k.hearOthers()
		due, owes := k.owes()
		if !owes {
			return nil
		}
		woken, err := k.pauseUntil(ctx, min(due, limit))
		if err != nil || !woken || k.isHanded() {
			return err
		}
	}
}

// owes reports whether others are owed a go, and until when they are given time.
func (k *contest) owes() (due time.Duration, owes bool) {
	k.q.part.mu.Lock()
	defer k.q.part.mu.Unlock()
	s := k.q.part.shareOf(k.q.name)
	if s == nil || s.owed == 0 {
		return 0, false
	}
	return s.due(), true
}

// hearOthers enters the goes of others that were told of.
func (k *contest) hearOthers() {
	now := k.q.client.now()
	k.q.part.mu.Lock()
	defer k.q.part.mu.Unlock()
	s := k.q.part.shareOf(k.q.name)
	if gone := k.q.othersReleases(s, now); s != nil {
		s.passed(gone, now)
	}
}

// askAgain reports whether to ask once more at once. Where everybody is far away, the
// one who went first may be done by the time that the refusal is here.
func (k *contest) askAgain() bool {
	once := k.once
	k.once = false
	return once
}

// enterRefusal enters who has the lock. What this process has itself tells nothing of others. Who is to read, and
// waits for a writer, is next when that one goes: the store keeps others off, and would do so while they are let first.
func (k *contest) enterRefusal(owner string) {
	now := k.q.client.now()
	k.q.part.mu.Lock()
	defer k.q.part.mu.Unlock()
	name, told := process(owner)
	own := k.q.part.holdSeenAs(k.q.name, owner)
	k.inside = own == nil && !(told && name == k.q.client.id)
	k.isNext = own != nil && own.want.mode == driver.Write && k.want.mode == driver.Shared
	if s := k.q.part.shareOf(k.q.name); s != nil && k.inside && k.q.hasTurns() {
		s.refused(owner, now)
	}
}

// othersOut enters that whoever was in when the contest asked last has gone.
func (k *contest) othersOut(now time.Duration) {
	k.q.part.mu.Lock()
	defer k.q.part.mu.Unlock()
	k.enterOthersOut(now)
}

// enterOthersOut returns the share, if there is one that the contest goes by. part.mu is held.
func (k *contest) enterOthersOut(now time.Duration) *share {
	inside := k.inside
	if inside {
		k.inside, k.others = false, true
	}
	s := k.q.part.shareOf(k.q.name)
	gone := k.q.othersReleases(s, now)
	if s == nil || !k.q.hasTurns() {
		return nil
	}
	if inside {
		gone = max(gone, 1)
	}
	s.passed(gone, now)
	return s
}

// enterGrant enters what the grant just had tells of others.
func (k *contest) enterGrant() {
	k.q.part.mu.Lock()
	defer k.q.part.mu.Unlock()
	if s := k.enterOthersOut(k.sent); s != nil {
		s.enterGrant(k.sent, k.others, k.yielded)
	}
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
