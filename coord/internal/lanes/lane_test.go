package lanes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

// traffic counts the calls under way, and the most there have been.
type traffic struct {
	mu        sync.Mutex
	now, most map[string]int
}

func (c *traffic) change(key string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now[key] += by
	c.most[key] = max(c.most[key], c.now[key])
}

// TestCallsAtOnceAreBounded draws how many calls go to which target of which host: there
// are never more of them than there are slots, and no slot is free while somebody waits.
func TestCallsAtOnceAreBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		perTarget, perHost := rapid.IntRange(1, 4).Draw(rt, "per target"), rapid.IntRange(1, 6).Draw(rt, "per host")
		calls := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 40).Draw(rt, "calls")
		virtually(t, func(t *testing.T) {
			ls := lanes.New(perTarget, perHost, shortest, func(string, lanes.Change) {})
			c := &traffic{now: map[string]int{}, most: map[string]int{}}
			total := map[string]int{}
			var all sync.WaitGroup
			for _, n := range calls {
				host := fmt.Sprintf("host%d", n%2)
				path := fmt.Sprintf("https://%s/%d", host, n)
				total[host]++
				all.Go(func() {
					l := ls.Get(txn.Target(path))
					if err := l.Acquire(t.Context()); err != nil {
						t.Error(err)
						return
					}
					c.change(host, 1)
					c.change(path, 1)
					time.Sleep(time.Second)
					c.change(host, -1)
					c.change(path, -1)
					l.Release()
				})
			}
			all.Wait()
			for key, most := range c.most {
				bound := perTarget
				if total[key] > 0 {
					bound = perHost
				}
				if most > bound {
					rt.Errorf("%d calls at once to %s: want at most %d", most, key, bound)
				}
			}
		})
	})
}

// Every slot is used: so many calls take so many seconds, and not one more.
func TestNoSlotIsIdleWhileACallWaits(t *testing.T) {
	for _, test := range []struct {
		to      txn.Target
		calls   int
		seconds int
	}{
		{"stock.deduct", 2, 1},
		{"stock.deduct", 3, 2},
		{"stock.deduct", 7, 4},
		{"https://stock/deduct", 4, 2},
	} {
		t.Run(fmt.Sprintf("%d calls of %s", test.calls, test.to), func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				l := lanes.New(2, 3, shortest, nil).Get(test.to)
				began := time.Now()
				var all sync.WaitGroup
				for range test.calls {
					all.Go(func() {
						if err := l.Acquire(t.Context()); err != nil {
							t.Error(err)
							return
						}
						time.Sleep(time.Second)
						l.Release()
					})
				}
				all.Wait()
				wantEqual(t, "time taken", time.Since(began), time.Duration(test.seconds)*time.Second)
			})
		})
	}
}

func TestFunctionsShareNoHost(t *testing.T) {
	ls := lanes.New(1, 1, shortest, nil)
	for _, name := range []txn.Target{"stock.deduct", "stock.restore", "async:https://stock/note"} {
		if err := ls.Get(name).Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTargetsOfAHostShareItsSlots(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ls := lanes.New(2, 3, shortest, nil)
		for _, path := range []txn.Target{"https://stock/a", "https://stock/a", "https://stock/b"} {
			if err := ls.Get(path).Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		mustWait(t, ls.Get("https://stock/b"))
		if err := ls.Get("https://other/b").Acquire(t.Context()); err != nil {
			t.Errorf("another host: %v", err)
		}
	})
}

// mustWait wants a call to get no slot until it is told to stop.
func mustWait(t *testing.T, l *lanes.Lane) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("acquired a slot, and there was none: %v", err)
	}
}

// A call that waits for its host has a slot of its target already, and gives that back
// when it is told to stop.
func TestACallThatStopsWaitingHoldsNoSlot(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ls := lanes.New(1, 1, shortest, nil)
		a, b := ls.Get("https://stock/a"), ls.Get("https://stock/b")
		if err := a.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustWait(t, b)
		a.Release()
		if err := b.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWhoWasToldToStopGetsNoSlot(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := lanes.New(1, 1, shortest, nil).Get("https://stock/deduct")
	if err := l.Acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v: want the context's", err)
	}
	if err := l.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// fill takes all slots of a lane, and returns what frees one of them.
func fill(t *testing.T, l *watchedLane) (release func()) {
	t.Helper()
	for range 2 {
		if err := l.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return l.Release
}

func TestOpeningEmptiesTheQueue(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := newLane()
		release := fill(t, l)
		errs := make(chan error)
		for range 3 {
			go func() { errs <- l.Acquire(t.Context()) }()
		}
		synctest.Wait()
		l.fall()
		for range 3 {
			if err := <-errs; !errors.Is(err, lanes.ErrDown) {
				t.Errorf("%v: want that the target is down", err)
			}
		}
		if err := l.Acquire(t.Context()); !errors.Is(err, lanes.ErrDown) {
			t.Errorf("who comes after: %v: want that the target is down", err)
		}
		release()
		if err := l.Acquire(t.Context()); err != nil {
			t.Errorf("a slot is free, for a probe that has waited: %v", err)
		}
	})
}

// The channel that empties the queue is one per opening: the second finds its queue, too.
func TestOpeningAgainEmptiesTheQueueAgain(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := newLane()
		fill(t, l)
		for range 2 {
			errs := make(chan error)
			go func() { errs <- l.Acquire(t.Context()) }()
			synctest.Wait()
			l.fall()
			if err := <-errs; !errors.Is(err, lanes.ErrDown) {
				t.Fatalf("%v: want that the target is down", err)
			}
			l.report(0, well)
		}
	})
}

// TestAFreedSlotCrowdsTheLane: who waited for it is served from that moment, whether it runs
// already or not.
func TestAFreedSlotCrowdsTheLane(t *testing.T) {
	virtually(t, func(t *testing.T) {
		for range 100 {
			l := newLane()
			fill(t, l)
			for range 2 {
				go func() { _ = l.Acquire(t.Context()) }()
			}
			synctest.Wait()
			l.Release()
			wantEqual(t, "crowded", l.all.IsCrowded(l.Name()), false)
		}
	})
}

func TestALaneIsCrowdedWhenAsManyWaitAsAreServed(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := newLane()
		fill(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		for _, crowded := range []bool{false, true} {
			go func() { _ = l.Acquire(ctx) }()
			synctest.Wait()
			wantEqual(t, "crowded", l.all.IsCrowded(l.Name()), crowded)
		}
		cancel()
		synctest.Wait()
		wantEqual(t, "crowded after they have left", l.all.IsCrowded(l.Name()), false)
	})
}
