package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// distance is how long everything takes on its way between the second client and the store, each way.
const distance = 2 * time.Millisecond

// farAway has what the second client and the store tell one another take its time, releases another. A call whose
// caller leaves goes on.
func (r *relay) farAway(release time.Duration) {
	r.link.set(hooks{
		acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			return driver.Await(ctx, func() (driver.Grant, error) {
				time.Sleep(distance)
				grant, err := r.link.Backend.Stand(context.WithoutCancel(ctx), req)
				time.Sleep(distance)
				return grant, err
			})
		},
		release: func(ctx context.Context, g driver.Grant) (int, error) {
			return driver.Await(ctx, func() (int, error) {
				time.Sleep(release)
				waiting, err := r.link.Backend.Release(context.WithoutCancel(ctx), g)
				time.Sleep(release)
				return waiting, err
			})
		},
	})
	r.link.divert(func(g driver.Grant) { time.AfterFunc(distance, func() { r.link.tell(g) }) })
}

// TestWaitEndsAtAnyMoment: before its request has come to the store, while the answer is on its way, while it stands,
// when it is granted the lock, and after that. Who has not got the lock knows whether it may have been granted, and it
// is free soon; also when the store answers a release too late for that, or the message of the grant is lost.
func TestWaitEndsAtAnyMoment(t *testing.T) {
	ends := map[string]func(r *relay, cancel func()){
		"cancelled": func(_ *relay, cancel func()) { cancel() },
		"stopped":   func(r *relay, _ func()) { go func() { _ = r.second.Stop(context.Background()) }() },
	}
	ways := map[string]struct {
		release time.Duration
		lost    bool // the message of the grant
	}{
		"heard": {release: distance}, "unheard": {release: distance, lost: true},
		"slow releases": {release: releaseGrace}, "unheard, slow releases": {release: releaseGrace, lost: true},
	}
	for ended, end := range ends {
		for way, w := range ways {
			t.Run(ended+", "+way, func(t *testing.T) {
				granted := 0
				for at := time.Duration(0); at <= passedAt+3*distance; at += distance / 4 {
					virtual(t, func(t *testing.T) {
						r := newRelay(t, nil)
						r.farAway(w.release)
						if w.lost {
							r.link.divert(func(driver.Grant) {})
						}
						if r.endWaiting(t, at, func(cancel func()) { end(r, cancel) }) {
							granted++
						}
						time.Sleep(2*distance + 2*w.release)
						synctest.Wait()
						mustUnlock(t, mustTryLock(t, r.first.Mutex("a", nil)))
					})
				}
				if (granted == 0) != w.lost || granted > 12 {
					t.Errorf("it was granted %d times", granted)
				}
			})
		}
	}
}

const (
	passedAt     = 20 * time.Millisecond  // when the first one releases the lock
	releaseGrace = 100 * time.Millisecond // for how long the end of a wait waits for the store, at most
)

// endWaiting has the second client wait for the lock, which is passed on to it, until that is ended after some time;
// and gives it back if it has got it. It reports whether it has.
func (r *relay) endWaiting(t *testing.T, at time.Duration, end func(cancel func())) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start := time.Now()
	time.AfterFunc(at, func() { end(cancel) })
	time.AfterFunc(passedAt, func() { mustUnlock(t, r.lease) })
	defer func() { time.Sleep(max(at, passedAt) - time.Since(start)) }()
	lease, err := r.second.Mutex("a", nil).Lock(ctx)
	if err == nil {
		if err := lease.Unlock(context.Background()); err != nil {
			wantErr(t, err, lock.ErrClosed)
		}
		return true
	}
	info, failed := r.first.Inspect(t.Context(), "a")
	if failed != nil {
		t.Fatal(failed)
	}
	if has := info.Held() && info.Holders[0].Owner != r.lease.Owner(); has && !lock.MaybeApplied(err) {
		t.Errorf("ended after %s: it has the lock, and is told %v", at, err)
	}
	return false
}
