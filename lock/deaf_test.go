package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// deaf is a store whose watches hear nothing: they listen at a server that goes on
// behind a partition, while another has taken its place.
type deaf struct{ driver.Backend }

// Watch implements [driver.Waiter].
func (deaf) Watch(context.Context, string, driver.Kind) (driver.Watch, error) { return silent{}, nil }

type silent struct{}

func (silent) C() <-chan struct{} { return nil }
func (silent) Count() uint64      { return 0 }
func (silent) Close()             {}

// TestAWatchThatHearsNothingIsReliedOn: whoever wants the lock would sleep for as long as
// the holder's lease was to last, though it has long been given back.
func TestAWatchThatHearsNothingIsReliedOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		holder := mustLock(t, open(t, memlock.NewBackend(store), nil).Mutex("a", &lock.MutexOptions{TTL: lock.MaxTTL}))
		done := lockLater(t, t.Context(), open(t, deaf{memlock.NewBackend(store)}, nil).Mutex("a", nil))
		time.Sleep(time.Second)
		mustUnlock(t, holder)
		start := time.Now()
		mustUnlock(t, granted(t, done))
		wantBetween(t, "the wait for a free lock", time.Since(start), 0, time.Minute)
	})
}
