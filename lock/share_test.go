//go:build !race

// What is judged here is how turns are shared out, over hours of virtual time: the race detector makes that some ten
// times as slow, and what runs is raced by all other tests.

package lock_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// crowd is some processes after one lock, each with that way to the store.
type crowd struct {
	ways       []time.Duration
	goroutines int // of each process
	hold       time.Duration
	lasts      time.Duration
	listeners  int  // who only listen
	uneven     bool // the ways are longer now and then
	handOff    lock.HandOff
}

// compete returns how often each of the processes had the lock.
func (c *crowd) compete(t *testing.T) []int {
	t.Helper()
	var (
		store  = memlock.NewStore(nil)
		counts = make([]int, len(c.ways))
		last   uint64
		group  sync.WaitGroup
		end    = time.Now().Add(c.lasts)
	)
	listenTo(t, store, c.listeners)
	for i, way := range c.ways {
		line := newDistant(store, nextDoor+way)
		line.uneven = c.uneven
		locks := open(t, line, &lock.Options{HandOff: c.handOff})
		for range c.goroutines {
			group.Go(func() {
				for time.Now().Before(end) {
					lease := mustLock(t, locks.Mutex("a", nil))
					if lease.Token() <= last {
						t.Errorf("token %d after %d", lease.Token(), last)
					}
					counts[i], last = counts[i]+1, lease.Token() // the lock guards them
					if c.hold > 0 {
						time.Sleep(c.hold)
					}
					mustUnlock(t, lease)
				}
			})
		}
	}
	group.Wait()
	return counts
}

func TestAProcessFurtherAwayIsNotStarved(t *testing.T) {
	const ms = time.Millisecond
	for _, ways := range [][]time.Duration{{0, 0}, {0, ms}, {0, 5 * ms}, {0, 20 * ms}, {0, 5 * ms, 20 * ms}} {
		for _, goroutines := range []int{1, 8} {
			for _, hold := range []time.Duration{0, ms, 30 * ms} {
				c := crowd{ways: ways, goroutines: goroutines, hold: hold, lasts: 15 * time.Second}
				if ways[1] == 0 {
					c.lasts = time.Second // they get along, and some ten million entries take their time
				}
				t.Run(fmt.Sprintf("%v, %d each, held %s", ways, goroutines, hold), func(t *testing.T) {
					virtual(t, func(t *testing.T) { wantShares(t, c.compete(t)) })
				})
			}
		}
	}
}

// A release that is told of is the echo of an own one only for a moment: it was 86 of a thousand entries when it was
// taken for that later, too, and 104 else.
func TestAGoOfOthersIsTakenForAnEcho(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := crowd{
			ways: []time.Duration{0, 5 * time.Millisecond}, goroutines: 1, hold: time.Millisecond,
			lasts: 15 * time.Second,
		}
		wantPart(t, 5, c.compete(t))
	})
}

// The second go of one who is near is not that of somebody further away: where many wait,
// all of them would be content with each other, and give him no time to come.
func TestOneFurtherAwayThanManyIsNotStarved(t *testing.T) {
	const ms = time.Millisecond
	for _, ways := range [][]time.Duration{
		{0, 0, 5 * ms},
		{ms, ms, 2 * ms},
		{10 * ms, 10 * ms, 13 * ms},
		{0, 0, 0, 5 * ms},
		{5 * ms, 5 * ms, 5 * ms, 7 * ms},
	} {
		for _, goroutines := range []int{1, 8} {
			t.Run(fmt.Sprintf("%v, %d each", ways, goroutines), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					c := crowd{ways: ways, goroutines: goroutines, hold: 30 * ms, lasts: 15 * time.Second}
					wantShares(t, c.compete(t))
				})
			})
		}
	}
}

// Who passes a lock on for long does not ask for it again for as long: those who are near would
// have such turns in turn, one of them always in its own, and nobody would give him time.
func TestOneFurtherAwayThanManyWithLongTurnsIsNotStarved(t *testing.T) {
	const ms = time.Millisecond
	for _, ways := range [][]time.Duration{{0, 0, ms}, {0, 0, 5 * ms}, {0, 0, ms, 5 * ms}} {
		t.Run(fmt.Sprint(ways), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				c := crowd{
					ways: ways, goroutines: 1, hold: 16 * ms, lasts: time.Minute,
					handOff: lock.HandOff{Time: 100 * ms, Count: 65536},
				}
				wantShares(t, c.compete(t))
			})
		})
	}
}

// Where the goes of those who are near are over before anybody is refused, nobody is told
// whose they were: they would take turns among themselves for ever.
func TestOneFurtherAwayThanManyWhoAreQuickIsNotStarved(t *testing.T) {
	const ms = time.Millisecond
	for _, ways := range [][]time.Duration{
		{0, 0, ms}, {0, 0, 5 * ms}, {0, 0, 20 * ms}, {0, 0, 0, 5 * ms}, {0, ms, 5 * ms, 20 * ms},
	} {
		for _, hold := range []time.Duration{0, ms} {
			t.Run(fmt.Sprintf("%v, held %s", ways, hold), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					c := crowd{ways: ways, goroutines: 1, hold: hold, lasts: 15 * time.Second}
					if slices.Contains(ways, 20*ms) { // who has it that seldom has luck or none for long
						c.lasts = time.Minute
					}
					wantShares(t, c.compete(t))
				})
			})
		}
	}
}

// Three who are near and hold for a few milliseconds have gone round before one who is far
// away can have heard of it. He has it some forty times in 15 s, too few to tell his share
// from his luck.
func TestOneFarAwayBesideThreeIsNotStarved(t *testing.T) {
	const ms = time.Millisecond
	for _, hold := range []time.Duration{ms, 2 * ms, 3 * ms, 5 * ms, 10 * ms} {
		t.Run(fmt.Sprintf("held %s", hold), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				c := crowd{ways: []time.Duration{0, 0, 0, 20 * ms}, goroutines: 1, hold: hold, lasts: time.Minute}
				wantPart(t, 15, c.compete(t))
			})
		})
	}
}

// Who comes too late now and then, because his messages were held up, has not gone: if
// the others went on without him for a while, a few such moments would starve him.
func TestWhoIsLateNowAndThenIsWaitedFor(t *testing.T) {
	const ms = time.Millisecond
	for _, ways := range [][]time.Duration{{0, 20 * ms}, {0, 5 * ms, 20 * ms}} {
		for _, hold := range []time.Duration{0, ms} {
			t.Run(fmt.Sprintf("%v, held %s", ways, hold), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					c := crowd{ways: ways, goroutines: 1, hold: hold, lasts: time.Minute, uneven: true}
					wantShares(t, c.compete(t))
				})
			})
		}
	}
}

// Where everybody is equally far away, nobody pays for the others' turns, in requests
// or in time: the lock is not left lying while somebody wants it.
func TestTurnsCostNothingAmongEquals(t *testing.T) {
	const hold = time.Millisecond
	for _, goroutines := range []int{1, 8} {
		for _, processes := range []int{2, 4} {
			virtual(t, func(t *testing.T) {
				c := crowd{
					ways: make([]time.Duration, processes), goroutines: goroutines, hold: hold,
					lasts: 15 * time.Second,
				}
				least := int(c.lasts / (hold + 5*nextDoor))
				if got := total(c.compete(t)); got < least {
					t.Errorf("%d processes of %d had the lock %d times, want %d", processes, goroutines, got, least)
				}
			})
		}
	}
}

// Four who are near do not take each other for strangers for long: if each gave the others
// time to come, none would see them.
func TestNobodyIsAStrangerAmongEquals(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := crowd{ways: make([]time.Duration, 4), goroutines: 1, lasts: 5 * time.Second}
		counts := c.compete(t)
		wantShares(t, counts)
		if got, least := total(counts), int(c.lasts/(4*nextDoor)); got < least {
			t.Errorf("had the lock %d times, want %d", got, least)
		}
	})
}

// Where everybody is equally far away, turns cost little: by luck alone, four processes
// 5 ms away have a lock every 16 ms, which they hold for no time at all.
func TestTurnsCostLittleAmongThoseEquallyFar(t *testing.T) {
	const way = 5 * time.Millisecond
	for _, hold := range []time.Duration{0, 200 * time.Microsecond} {
		virtual(t, func(t *testing.T) {
			c := crowd{ways: []time.Duration{way, way, way, way}, goroutines: 1, hold: hold, lasts: 30 * time.Second}
			if got, least := total(c.compete(t)), int(c.lasts/(18*time.Millisecond)); got < least {
				t.Errorf("had the lock %d times, held %s, want %d", got, hold, least)
			}
		})
	}
}

// Somebody who listens and does not come (a monitor, or one who has just gone) is
// waited for a few times, and then seldom.
func TestWhoOnlyListensIsNotWaitedFor(t *testing.T) {
	for _, goroutines := range []int{1, 8} {
		for _, way := range []time.Duration{0, 5 * time.Millisecond} {
			virtual(t, func(t *testing.T) {
				c := crowd{
					ways: []time.Duration{way}, goroutines: goroutines, hold: time.Millisecond,
					lasts: 15 * time.Second,
				}
				alone := total(c.compete(t))
				c.listeners = 3
				if got := total(c.compete(t)); got < alone*9/10 {
					t.Errorf("had the lock %d times, and %d times while others listened", alone, got)
				}
			})
		}
	}
}

// So it is where several come, of whom none can be told from him by their goes.
func TestWhoOnlyListensToSeveralIsSeldomWaitedFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := crowd{ways: make([]time.Duration, 3), goroutines: 1, hold: time.Millisecond, lasts: 15 * time.Second}
		alone := total(c.compete(t))
		c.listeners = 1
		if got := total(c.compete(t)); got < alone*9/10 {
			t.Errorf("had the lock %d times, and %d times while one listened", alone, got)
		}
	})
}

// A TryLock gives others no time, and a Lock that has little of it gives little.
func TestYieldingDoesNotUseUpTheWait(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks := open(t, memlock.NewBackend(store), &lock.Options{HandOff: lock.HandOff{Count: -1}})
		listenTo(t, store, 1)
		for range 100 {
			start := time.Now()
			lease, err := locks.Mutex("a", nil).TryLock(t.Context())
			wantErr(t, err, nil)
			mustUnlock(t, lease)
			wantEqual(t, "TryLock took", time.Since(start), 0)
			brief, cancel := context.WithTimeout(t.Context(), 100*time.Microsecond)
			lease, err = locks.Mutex("a", nil).Lock(brief)
			wantErr(t, err, nil)
			mustUnlock(t, lease)
			cancel()
			wantBetween(t, "Lock", time.Since(start), 0, 50*time.Microsecond)
		}
	})
}

// What is remembered of a name that others waited for is forgotten when it is used no
// more.
func TestSharesOfNamesAreForgotten(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		backend.set(hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
			_, err := backend.Backend.Release(ctx, g)
			return 1, err
		}})
		locks := open(t, backend, nil)
		use := func(n int) uint64 {
			for i := range n {
				mustUnlock(t, mustLock(t, locks.Mutex("order/"+strconv.Itoa(i), nil)))
				time.Sleep(time.Millisecond)
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		some, many := use(1000), use(200_000)
		if many > some+20<<20 {
			t.Errorf("%d bytes are kept", many-some)
		}
	})
}

// listenTo makes others listen who never ask.
func listenTo(t *testing.T, store *memlock.Store, n int) {
	t.Helper()
	for range n {
		watch, err := memlock.NewBackend(store).(driver.Waiter).Watch(t.Context(), "a", driver.Mutex)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(watch.Close)
	}
}
