//go:build !race

// What is judged here is how turns are shared out, over hours of virtual time: the race detector makes that some ten
// times as slow, and what runs is raced by all other tests.

package lock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestSeveralWantsOfAProcessStarveAnother: they wait in queues of their own, and none of these knows of others by
// itself.
func TestSeveralWantsOfAProcessStarveAnother(t *testing.T) {
	for _, near := range [][]wanted{
		{{"write", 2 * ms}, {"read upgradeable", 5 * ms}},
		{{"write", 30 * ms}, {"read upgradeable", 30 * ms}},
		{{"read upgradeable", 3 * ms}, {"read upgradeable", 3 * ms}},
		{{"write", 2 * ms}, {"write after readers", 2 * ms}},
		{{"upgrade", ms}, {"write", 2 * ms}},
	} {
		for _, far := range []wanted{{"write", 2 * ms}, {"read upgradeable", 2 * ms}} {
			for _, way := range []time.Duration{ms, 5 * ms} {
				t.Run(fmt.Sprintf("%v, %v, %s", near, far, way), func(t *testing.T) {
					virtual(t, func(t *testing.T) {
						store := memlock.NewStore(nil)
						c := open(t, newDistant(store, nextDoor), nil)
						var all []turns
						for _, w := range near {
							all = append(all, w.turns(c))
						}
						all = append(all, far.turns(open(t, newDistant(store, nextDoor+way), nil)))
						had := takeTurns(t, 20*time.Second, all)
						wantPart(t, 10, []int{total(had[:len(near)]), had[len(near)]})
					})
				})
			}
		}
	}
}

// TestThoseWhoUpgradeStarveAThird: an upgrade is two goes to who listens, and both are of one process.
func TestThoseWhoUpgradeStarveAThird(t *testing.T) {
	for _, all := range [][]wanted{
		{{"upgrade", 3 * ms}, {"write", 3 * ms}, {"write", 3 * ms}},
		{{"upgrade", 3 * ms}, {"upgrade", 3 * ms}, {"read upgradeable", 3 * ms}},
		{{"upgrade", 30 * ms}, {"upgrade", 30 * ms}, {"read upgradeable", 30 * ms}},
	} {
		for _, way := range []time.Duration{ms, 5 * ms} {
			t.Run(fmt.Sprintf("%v, %s", all, way), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					store := memlock.NewStore(nil)
					wantPart(t, 10, takeTurns(t, 20*time.Second, []turns{
						all[0].turns(open(t, newDistant(store, nextDoor), nil)),
						all[1].turns(open(t, newDistant(store, nextDoor), nil)),
						all[2].turns(open(t, newDistant(store, nextDoor+way), nil)),
					}))
				})
			})
		}
	}
}

const ms = time.Millisecond

// wanted is what a goroutine wants of a lock time and again, and for how long.
type wanted struct {
	kind string
	held time.Duration
}

func (w wanted) turns(c *lock.Client) turns {
	rw, held := c.RWMutex("a", nil), w.held
	switch w.kind {
	case "write":
		return turns{rw.Lock, held}
	case "write after readers":
		return turns{c.RWMutex("a", &lock.RWMutexOptions{ReadersFirst: true}).Lock, held}
	case "read upgradeable":
		return turns{rw.RLockUpgradeable, held}
	case "upgrade":
		return turns{func(ctx context.Context) (*lock.Lease, error) { return upgrade(ctx, rw, held) }, held}
	}
	panic(w.kind)
}

// upgrade reads, has written for a while, and reads still.
func upgrade(ctx context.Context, rw *lock.RWMutex, written time.Duration) (*lock.Lease, error) {
	reader, err := rw.RLockUpgradeable(ctx)
	if err != nil {
		return nil, err
	}
	writer, err := reader.Upgrade(ctx)
	if err != nil {
		return nil, errors.Join(err, ctx.Err(), reader.Unlock(context.Background()))
	}
	time.Sleep(written)
	return reader, writer.Unlock(context.Background())
}

// TestAnUpgradeableReaderFarAwayIsStarved by that of the process next door: one at a time reads so.
func TestAnUpgradeableReaderFarAwayIsStarved(t *testing.T) {
	for _, way := range []time.Duration{ms, 5 * ms, 20 * ms} {
		t.Run(way.String(), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				var all []turns
				for _, way := range []time.Duration{0, way} {
					rw := open(t, newDistant(store, nextDoor+way), nil).RWMutex("a", nil)
					all = append(all, turns{rw.RLockUpgradeable, 30 * ms})
				}
				wantShares(t, takeTurns(t, 30*time.Second, all))
			})
		})
	}
}
