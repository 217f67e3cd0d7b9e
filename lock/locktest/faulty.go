package locktest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Method names what a [Faulty] backend can be told to fail at.
type Method string

// The methods of a backend that reach the store.
const (
	Acquire Method = "Acquire"
	Renew   Method = "Renew"
	Release Method = "Release"
	Watch   Method = "Watch"
	Inspect Method = "Inspect"
	Force   Method = "ForceRelease"
)

// ErrReplyLost is the error of a call whose outcome the caller does not learn.
var ErrReplyLost = errors.New("the reply was lost")

// Fault is what goes wrong with one call.
type Fault struct {
	// Delay passes before the request reaches the store.
	Delay time.Duration
	// Before fails the call before it reaches the store.
	Before error
	// Linger passes before the reply reaches the caller.
	Linger time.Duration
	// After fails the call after it took effect.
	After error
	// Told makes a call that is left behind tell when it has ended, as one does that
	// goes on in its caller's process. Without it a call is lost in the network.
	Told bool
}

// Faulty is a backend that fails on demand. A call whose context ends while it
// is delayed or frozen returns at once, and reaches the store later all the same,
// as a packet on its way would.
type Faulty struct {
	inner driver.Backend

	mu     sync.Mutex
	faults map[Method][]Fault
	calls  map[Method]int
	done   map[Method]int
	ice    chan struct{} // closed to thaw; nil when not frozen
	lag    time.Duration // of every call
	late   sync.WaitGroup
}

var (
	_ driver.Backend    = (*Faulty)(nil)
	_ driver.Waiter     = (*Faulty)(nil)
	_ driver.Sharder    = (*Faulty)(nil)
	_ driver.Timekeeper = (*Faulty)(nil)
	_ driver.Inspector  = (*Faulty)(nil)
	_ driver.Forcer     = (*Faulty)(nil)
	_ driver.Checker    = (*Faulty)(nil)
)

// NewFaulty returns a backend that does what inner does until told otherwise.
func NewFaulty(inner driver.Backend) *Faulty {
	return &Faulty{
		inner: inner, faults: make(map[Method][]Fault), calls: make(map[Method]int), done: make(map[Method]int),
	}
}

// Fail makes the next calls of a method fail, one per fault.
func (f *Faulty) Fail(m Method, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[m] = append(f.faults[m], faults...)
}

// Freeze holds every call up until Thaw.
func (f *Faulty) Freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ice == nil {
		f.ice = make(chan struct{})
	}
}

// Thaw lets go what is frozen.
func (f *Faulty) Thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ice != nil {
		close(f.ice)
		f.ice = nil
	}
}

// Lag holds up by d every request made from now on.
func (f *Faulty) Lag(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lag = d
}

// Calls returns how often the method was called.
func (f *Faulty) Calls(m Method) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[m]
}

// Answered returns how many calls of the method have returned to their caller.
func (f *Faulty) Answered(m Method) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done[m]
}

// AllCalls returns how often the backend was called at all.
func (f *Faulty) AllCalls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := 0
	for _, n := range f.calls {
		sum += n
	}
	return sum
}

// next counts a call and returns what is to happen to it.
func (f *Faulty) next(m Method) (Fault, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[m]++
	var fault Fault
	if planned := f.faults[m]; len(planned) > 0 {
		fault, f.faults[m] = planned[0], planned[1:]
	}
	if f.lag > 0 {
		fault.Delay, fault.Told = fault.Delay+f.lag, true
	}
	return fault, f.ice
}

func (f *Faulty) answered(m Method) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done[m]++
}

// Now implements [driver.Timekeeper], by the clock the inner backend is judged by.
func (f *Faulty) Now() time.Duration {
	if own, ok := f.inner.(driver.Timekeeper); ok {
		return own.Now()
	}
	return bootclock.Now()
}

// Shard implements [driver.Sharder].
func (f *Faulty) Shard(name string) int {
	if own, ok := f.inner.(driver.Sharder); ok {
		return own.Shard(name)
	}
	return 0
}

// Close implements [driver.Backend]. It waits for late calls, which must have
// been thawed.
func (f *Faulty) Close() error {
	f.late.Wait()
	return f.inner.Close()
}

// reply is what a call comes to.
type reply[T any] struct {
	value T
	err   error
}

// through makes a call the way its fault wants it.
func through[T any](ctx context.Context, f *Faulty, m Method, call func(context.Context) (T, error)) (T, error) {
	defer f.answered(m)
	fault, ice := f.next(m)
	if fault == (Fault{}) && ice == nil {
		return call(ctx)
	}
	replies, ended := make(chan reply[T], 1), make(chan struct{})
	f.late.Go(func() {
		defer close(ended)
		replies <- suffer(ctx, fault, ice, call)
	})
	select {
	case r := <-replies:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		err := errors.Join(ErrReplyLost, ctx.Err())
		if fault.Told {
			err = &driver.UnderwayError{Err: err, Ended: ended}
		}
		return none, err
	}
}

// suffer makes a call through a fault, whether or not the caller still waits.
func suffer[T any](
	ctx context.Context, fault Fault, ice <-chan struct{}, call func(context.Context) (T, error),
) (r reply[T]) {
	if ice != nil {
		<-ice
	}
	time.Sleep(fault.Delay)
	if fault.Before != nil {
		r.err = fault.Before
		return r
	}
	r.value, r.err = call(context.WithoutCancel(ctx))
	time.Sleep(fault.Linger)
	if fault.After != nil {
		r.err = fault.After
	}
	return r
}
