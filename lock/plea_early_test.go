package lock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// slowAnswer is a store whose answers to requests are on their way for some time after they were granted.
type slowAnswer struct {
	driver.Backend
	driver.Notifier
	driver.Pleader

	granted func()
}

func (s *slowAnswer) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g, err := s.Backend.Acquire(ctx, req)
	if granted := s.granted; err == nil && granted != nil {
		s.granted = nil
		granted()
	}
	return g, err
}

// TestPleaIsHeardBeforeTheAnswer: the store has granted the lock, and the answer is on its way, when somebody asks for
// it. The message comes first, by the other connection. One holder was told, so its lease has to hear of it.
func TestPleaIsHeardBeforeTheAnswer(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var seen pleas
		store := memlock.NewStore(nil)
		b := memlock.NewBackend(store)
		slow := &slowAnswer{Backend: b, Notifier: b.(driver.Notifier), Pleader: b.(driver.Pleader)}
		other := open(t, memlock.NewBackend(store), nil)
		one := open(t, slow, &lock.Options{Observer: &seen})
		told := -1
		slow.granted = func() {
			told, _ = other.Ask(t.Context(), "a", "maintenance", time.Minute)
		}
		lease := mustLock(t, one.Mutex("a", nil))
		synctest.Wait()
		if _, asked := lease.Plea(); told != 1 || !asked {
			t.Errorf("%d were told, and the lease has heard it: %v", told, asked)
		}
		wantAsked(t, lease)
		wantEqual(t, "events", len(seen.seen), 1)
		mustUnlock(t, lease)

		again := mustLock(t, one.Mutex("a", nil))
		if p, asked := again.Plea(); asked {
			t.Errorf("what the one before was asked: %+v", p)
		}
		mustUnlock(t, again)
	})
}

// TestReadersJoinWhoWasAskedBeforeTheAnswer: those who have waited for it do not share the grant, either.
func TestReadersJoinWhoWasAskedBeforeTheAnswer(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		b := memlock.NewBackend(store)
		slow := &slowAnswer{Backend: b, Notifier: b.(driver.Notifier), Pleader: b.(driver.Pleader)}
		other := open(t, memlock.NewBackend(store), nil)
		rw := open(t, slow, nil).RWMutex("a", nil)
		var next <-chan outcome
		slow.granted = func() {
			next = lockLater(t, t.Context(), rw.Reader())
			mustAsk(t, other, 1)
		}
		first := mustLock(t, rw.Reader())
		wantAsked(t, first)
		second := granted(t, next)
		if second.Owner() == first.Owner() {
			t.Error("it has joined")
		}
		mustUnlock(t, first)
		mustUnlock(t, second)
	})
}

// attentive is a courier that brings what others want, too.
type attentive struct{ *courier }

func (a attentive) Notify(tell func(driver.Message)) { a.Backend.Notify(tell) }

// TestPleaIsHeardBeforeTheGrant that was passed on: the message of that is late; or it is lost, and the one who stands
// asks again.
func TestPleaIsHeardBeforeTheGrant(t *testing.T) {
	for _, lost := range []bool{false, true} {
		virtual(t, func(t *testing.T) {
			r := newRelay(t, nil)
			r.link = newCourier(r.store)
			r.second = open(t, attentive{r.link}, nil)
			r.link.divert(func(g driver.Grant) {
				if !lost {
					time.AfterFunc(10*time.Millisecond, func() { r.link.tell(g) })
				}
			})
			next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
			time.Sleep(time.Second)
			mustUnlock(t, r.lease)
			mustAsk(t, r.first, 1)
			by := time.Now().Add(time.Minute)
			lease := granted(t, next)
			if p, asked := lease.Plea(); !asked || p != (lock.Plea{Reason: "maintenance", By: by}) {
				t.Fatalf("lost %v: the plea is %+v, %v", lost, p, asked)
			}
			<-lease.Asked()
			mustUnlock(t, lease)
		})
	}
}

// TestPleaForWhatWasTakenAway: the grant was passed on, asked for, and taken away by force before anybody here knew of
// it. Who gets the lock later is not asked.
func TestPleaForWhatWasTakenAway(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := newRelay(t, nil)
		r.link = newCourier(r.store)
		r.second = open(t, attentive{r.link}, nil)
		r.link.divert(func(driver.Grant) {})
		next := lockLater(t, t.Context(), r.second.Mutex("a", nil))
		time.Sleep(time.Second)
		mustUnlock(t, r.lease)
		mustAsk(t, r.first, 1)
		if held, err := r.first.ForceRelease(t.Context(), "a"); !held || err != nil {
			t.Fatal(held, err)
		}
		lease := granted(t, next)
		if p, asked := lease.Plea(); asked {
			t.Errorf("it is asked for: %+v", p)
		}
		mustUnlock(t, lease)
	})
}
