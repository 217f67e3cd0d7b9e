package lock_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// turn is that of a process that has a lock to write; there is another one.
type turn struct {
	backend   *faulty
	store     *memlock.Store
	rw, other *lock.RWMutex
	locks     *lock.Client
	writer    *lock.Lease
}

func newTurn(t *testing.T, opts *lock.Options) *turn {
	t.Helper()
	store := memlock.NewStore(nil)
	s := &turn{backend: newFaulty(store), store: store}
	s.locks = open(t, s.backend, opts)
	s.rw = s.locks.RWMutex("a", nil)
	s.other = open(t, memlock.NewBackend(store), nil).RWMutex("a", nil)
	s.writer = s.write(t)
	return s
}

// write takes the lock to write with tokens to spare, since others of this process wait at first.
func (s *turn) write(t *testing.T) *lock.Lease {
	t.Helper()
	first := mustLock(t, s.rw.Writer())
	waiting := make([]<-chan outcome, 2)
	for i := range waiting {
		waiting[i] = lockLater(t, t.Context(), s.rw.Writer())
	}
	mustUnlock(t, first)
	mustUnlock(t, granted(t, waiting[0]))
	return granted(t, waiting[1])
}

// read has readers take over from the writer.
func (s *turn) read(t *testing.T, n int) (readers []*lock.Lease) {
	t.Helper()
	var waiting []<-chan outcome
	for range n {
		waiting = append(waiting, lockLater(t, t.Context(), s.rw.Reader()))
	}
	mustUnlock(t, s.writer)
	for _, w := range waiting {
		readers = append(readers, granted(t, w))
	}
	return readers
}

func TestAWriterPassesTheLockOnToReadersOfItsProcess(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newTurn(t, nil)
		asked := s.backend.acquires.Load()
		first := lockLater(t, t.Context(), s.rw.Reader())
		second := lockLater(t, t.Context(), s.rw.Reader())
		next := lockLater(t, t.Context(), s.rw.Writer())
		last := lockLater(t, t.Context(), s.rw.Reader())
		mustUnlock(t, s.writer)
		one, two := granted(t, first), granted(t, second)
		wantEqual(t, "the tokens of those who read together", one.Token(), two.Token())
		stillWaits(t, next)
		mustUnlock(t, one)
		stillWaits(t, next)
		mustUnlock(t, two)
		w := granted(t, next)
		stillWaits(t, last)
		mustUnlock(t, w)
		r := granted(t, last)
		wantRisingTokens(t, []*lock.Lease{s.writer, one, w, r})
		mustUnlock(t, r)
		wantEqual(t, "requests of those who have it passed on", s.backend.acquires.Load()-asked, 0)
		mustUnlock(t, mustTryLock(t, s.other.Writer()))
	})
}

func TestAReaderJoinsThoseWhoReadByAGrantToWrite(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newTurn(t, nil)
		readers := s.read(t, 1)
		asked := s.backend.acquires.Load()
		readers = append(readers, mustTryLock(t, s.rw.Reader()), mustLock(t, s.rw.Reader()))
		wantEqual(t, "requests of those who join", s.backend.acquires.Load()-asked, 0)
		writer := lockLater(t, t.Context(), s.rw.Writer())
		refusedNow(t, s.rw.Reader()) // a writer waits
		for _, r := range readers {
			stillWaits(t, writer)
			mustUnlock(t, r)
		}
		mustUnlock(t, granted(t, writer))
	})
}

// TestReadersLetOthersReadAfterTheirTurn, and writers nowhere: a grant to write becomes one to read when the time of
// the hand-off is over.
func TestReadersLetOthersReadAfterTheirTurn(t *testing.T) {
	for _, fault := range []bedrocktest.Fault{
		{}, {Before: driver.ErrUnavailable}, {After: bedrocktest.ErrReplyLost}, {Delay: 300 * time.Millisecond},
	} {
		virtual(t, func(t *testing.T) {
			s := newTurn(t, &lock.Options{TTL: time.Second})
			s.backend.FailCall(bedrocktest.Downgrade, 1, fault)
			reads := s.read(t, 2)
			elsewhere := lockLater(t, t.Context(), s.other.Reader())
			beside := lockLater(t, t.Context(), s.rw.Writer()) // its own writers wait on, in the store
			time.Sleep(9 * time.Millisecond)
			wantEqual(t, "downgrades within the turn", s.backend.Calls(bedrocktest.Downgrade), 0)
			there := granted(t, elsewhere)
			time.Sleep(3 * time.Second) // it is renewed
			stillWaits(t, beside)
			refusedNow(t, s.other.Writer())
			mustUnlock(t, reads[0])
			mustUnlock(t, there)
			refusedNow(t, s.other.Writer())
			wantErr(t, reads[1].Err(), nil)
			mustUnlock(t, reads[1])
			mustUnlock(t, granted(t, beside))
			mustUnlock(t, mustTryLock(t, s.other.Writer()))
		})
	}
}

// TestAClockGoesBackAfterATurn, by which that would not be over: what others read nobody writes.
func TestAClockGoesBackAfterATurn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newTurn(t, nil)
		s.backend.Fail(bedrocktest.Downgrade, bedrocktest.Fault{After: bedrocktest.ErrReplyLost})
		reads := s.read(t, 1)
		writer := lockLater(t, t.Context(), s.rw.Writer())
		there := granted(t, lockLater(t, t.Context(), s.other.Reader()))
		s.backend.suspend(-time.Second)
		mustUnlock(t, reads[0])
		stillWaits(t, writer)
		mustUnlock(t, there)
		mustUnlock(t, granted(t, writer))
	})
}

func TestATurnThatEndsInTimeAsksForNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newTurn(t, nil)
		r := s.read(t, 1)
		time.Sleep(5 * time.Millisecond)
		mustUnlock(t, r[0])
		w := mustLock(t, s.rw.Writer())
		time.Sleep(time.Second)
		wantEqual(t, "downgrades", s.backend.Calls(bedrocktest.Downgrade), 0)
		mustUnlock(t, w)
	})
}

// TestABackendThatRefusesToDowngradeIsAskedOnce: readers keep others off that once, and no more.
func TestABackendThatRefusesToDowngradeIsAskedOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newTurn(t, nil)
		s.backend.Fail(bedrocktest.Downgrade, bedrocktest.Fault{Before: driver.ErrUnsupported})
		r := s.read(t, 1)
		elsewhere := lockLater(t, t.Context(), s.other.Reader())
		time.Sleep(time.Second)
		stillWaits(t, elsewhere)
		mustUnlock(t, r[0])
		mustUnlock(t, granted(t, elsewhere))
		s.writer = s.write(t)
		r = s.read(t, 1)
		mustUnlock(t, granted(t, lockLater(t, t.Context(), s.other.Reader())))
		mustUnlock(t, r[0])
		wantEqual(t, "downgrades", s.backend.Calls(bedrocktest.Downgrade), 1)
	})
}

func TestReadersOfAGrantThatIsGoneAreTold(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newTurn(t, nil)
		s.backend.Fail(bedrocktest.Downgrade, bedrocktest.Fault{Before: driver.ErrLost})
		for _, r := range s.read(t, 2) {
			<-r.Context().Done()
			wantErr(t, r.Err(), lock.ErrLost)
			wantErr(t, r.Unlock(t.Context()), lock.ErrLost)
		}
	})
}

// TestReadersGoWhileTheirGrantIsDowngraded: that comes after the release, and nothing is left.
func TestReadersGoWhileTheirGrantIsDowngraded(t *testing.T) {
	for _, stop := range []bool{false, true} {
		virtual(t, func(t *testing.T) {
			s := newTurn(t, nil)
			s.backend.Fail(bedrocktest.Downgrade, bedrocktest.Fault{Delay: time.Second})
			r := s.read(t, 1)
			time.Sleep(20 * time.Millisecond)
			if stop {
				wantErr(t, s.locks.Stop(t.Context()), nil)
				wantErr(t, r[0].Unlock(t.Context()), lock.ErrClosed)
			} else {
				mustUnlock(t, r[0])
				mustUnlock(t, mustLock(t, s.rw.Writer()))
			}
			mustUnlock(t, mustTryLock(t, s.other.Writer()))
			time.Sleep(2 * time.Second)
			mustUnlock(t, mustTryLock(t, s.other.Writer()))
		})
	}
}

// TestWhoReadsByAGrantToWriteIsAReader: it neither writes, nor downgrades, nor upgrades.
func TestWhoReadsByAGrantToWriteIsAReader(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newTurn(t, nil)
		for _, r := range s.read(t, 2) {
			_, err := s.rw.Lock(r.Context())
			wantText(t, err, "ctx", "to read, which is in the way of one to write")
			_, err = r.Upgrade(t.Context())
			wantText(t, err, "not one of RLockUpgradeable")
			_, err = r.Downgrade(t.Context())
			wantText(t, err, "not one to write")
			again, err := s.rw.RLock(r.Context())
			wantErr(t, err, nil)
			wantEqual(t, "the token", again.Token(), r.Token())
			mustUnlock(t, r)
			wantErr(t, again.Err(), nil)
			mustUnlock(t, again)
		}
		mustUnlock(t, mustTryLock(t, s.other.Writer()))
	})
}

// TestWhoIsNotServedByAGrantToWrite: it is for those who want the same, to read.
func TestWhoIsNotServedByAGrantToWrite(t *testing.T) {
	upgradeable := func(s *turn) (*lock.Lease, error) { return s.rw.RLockUpgradeable(context.Background()) }
	otherwise := func(s *turn) (*lock.Lease, error) {
		return s.locks.RWMutex("a", &lock.RWMutexOptions{TTL: time.Hour}).RLock(context.Background())
	}
	same := func(s *turn) (*lock.Lease, error) { return s.rw.RLock(context.Background()) }
	for name, c := range map[string]struct {
		take    func(s *turn) (*lock.Lease, error)
		handOff lock.HandOff
	}{
		"upgradeable":      {take: upgradeable},
		"of another TTL":   {take: otherwise},
		"without hand-off": {take: same, handOff: lock.HandOff{Count: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := newTurn(t, &lock.Options{HandOff: c.handOff})
				var reads *lock.Lease
				done := make(chan error, 1)
				go func() {
					var err error
					reads, err = c.take(s)
					done <- err
				}()
				time.Sleep(time.Millisecond)
				mustUnlock(t, s.writer)
				wantErr(t, <-done, nil)
				if reads.Owner() == s.writer.Owner() {
					t.Error("it has the writer's grant")
				}
				mustUnlock(t, granted(t, lockLater(t, t.Context(), s.other.Reader())))
				mustUnlock(t, reads)
			})
		})
	}
}

// TestReadersAndWritersOfManyProcessesExcludeEachOther, who pass the lock on among themselves, and stay for longer than
// their turns now and then.
func TestReadersAndWritersOfManyProcessesExcludeEachOther(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var (
			store   = memlock.NewStore(nil)
			inside  atomic.Int64 // readers, or a thousand for a writer
			counts  [3]atomic.Int64
			group   sync.WaitGroup
			ctx, no = context.WithTimeout(t.Context(), 20*time.Second)
		)
		defer no()
		for p := range counts {
			rw := open(t, newDistant(store, nextDoor), nil).RWMutex("a", nil)
			for g := range 8 {
				group.Go(func() {
					for i := 0; ; i++ {
						side, weight := rw.Reader(), int64(1)
						if (i+g)%16 == 0 {
							side, weight = rw.Writer(), 1000
						}
						lease, err := side.Lock(ctx)
						if errors.Is(err, context.DeadlineExceeded) {
							return
						}
						wantErr(t, err, nil)
						if now := inside.Add(weight); now > 1000 || weight == 1000 && now != 1000 {
							t.Errorf("%d are inside", now)
						}
						counts[p].Add(1)
						if i%50 == 0 {
							time.Sleep(30 * time.Millisecond)
						} else {
							time.Sleep(100 * time.Microsecond)
						}
						inside.Add(-weight)
						mustUnlock(t, lease)
					}
				})
			}
		}
		group.Wait()
		had := []int{int(counts[0].Load()), int(counts[1].Load()), int(counts[2].Load())}
		wantShares(t, had)
	})
}

// TestTheClockGoesBackInAWritersTurn, by which the turn goes on, though its timer has gone off: one more timer looks
// whether somebody reads still.
func TestTheClockGoesBackInAWritersTurn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := newTurn(t, nil)
		r := s.read(t, 1)
		writer := lockLater(t, t.Context(), s.rw.Writer())
		mustUnlock(t, r[0])
		w := granted(t, writer)
		reader := lockLater(t, t.Context(), s.rw.Reader())
		time.Sleep(20 * time.Millisecond)
		s.backend.suspend(-time.Second)
		mustUnlock(t, w)
		reads := granted(t, reader)
		elsewhere := lockLater(t, t.Context(), s.other.Reader())
		time.Sleep(5 * time.Second)
		select {
		case got := <-elsewhere:
			mustUnlock(t, got.lease)
		default:
			t.Error("who reads here keeps readers elsewhere off")
		}
		mustUnlock(t, reads)
	})
}
