package lock

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Who stands aside is not at the front when it goes, so the share is not its business. If it has had its turn as a
// writer before, was the one upgradeable reader, or somebody has asked for it, others are owed theirs all the same:
// whoever is at the front here, and is as close to the store as it was, lets them go first.

// departure is the release of a hold that stood aside.
type departure struct {
	hold    *hold
	waiting int           // how many others wait
	over    chan struct{} // closed when that is known
}

// beginDeparture has whoever is at the front wait for what the release tells, if it has to. part.mu is held.
func (h *hold) beginDeparture() {
	if h.aside && h.want.mode != driver.Permit && (h.onlyRead || h.want.isUpgradeable() || h.isAsked()) {
		h.leaving = &departure{hold: h, over: make(chan struct{})}
		h.q.departed = h.leaving
	}
}

func (d *departure) recordWaiting(waiting int) {
	if d != nil {
		d.waiting = waiting
	}
}

func (d *departure) endDeparture() {
	if d != nil {
		close(d.over)
	}
}

// accountDeparture enters what the release of who stood aside has told, once it has.
func (k *contest) accountDeparture(ctx context.Context) error {
	d := k.q.takeDeparture()
	if d == nil {
		return nil
	}
	if err := k.pauseFor(ctx, longestYield, d.over); err != nil {
		return err
	}
	if isClosed(d.over) {
		k.q.enterDeparture(d)
	}
	return nil
}

func (q *queue) takeDeparture() *departure {
	q.part.mu.Lock()
	defer q.part.mu.Unlock()
	d := q.departed
	q.departed = nil
	return d
}

// enterDeparture accounts for it. The share is the caller's business.
func (q *queue) enterDeparture(d *departure) {
	if d == nil || d.waiting == 0 {
		return
	}
	q.shareOfOthers().account(d.hold, d.waiting, q.client.now())
	q.seen, q.share.trip, q.share.echo = q.releases(), shortestEcho, 0 // the own release has been heard of
}
