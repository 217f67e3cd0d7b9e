package bedrocktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// ErrReplyLost is the error of a call whose outcome its caller does not learn.
var ErrReplyLost = errors.New("the reply was lost")

// Method names what a [Backend] or a [Store] can be told to fail at. One that it does not have,
// or that the one inside does not have, is a mistake in the test, which panics.
type Method string

// The methods of a backend of locks that reach it.
const (
	Acquire      Method = "Acquire"
	Renew        Method = "Renew"
	Release      Method = "Release"
	Watch        Method = "Watch"
	Inspect      Method = "Inspect"
	ForceRelease Method = "ForceRelease"
	Check        Method = "Check"
	Identity     Method = "Identity"
	AcquireAll   Method = "AcquireAll"
	Annotate     Method = "Annotate"
	Downgrade    Method = "Downgrade"
	SetLatch     Method = "SetLatch"
	CountDown    Method = "CountDown"
	LatchCount   Method = "LatchCount"
	DropLatch    Method = "DropLatch"
	Plead        Method = "Plead"
)

// The methods of a store of transactions.
const (
	Create   Method = "Create"
	CreateTx Method = "CreateTx"
	Load     Method = "Load"
	Update   Method = "Update"
	Claim    Method = "Claim"
	Now      Method = "Now"
	Delete   Method = "Delete"
	Count    Method = "Count"
)

// List is a method of both.
const List Method = "List"

// Fault is what goes wrong with one call. The zero fault lets it pass.
type Fault struct {
	// Delay passes before the request reaches the store.
	Delay time.Duration
	// Before fails the call before it reaches the store: nothing has happened.
	Before error
	// Linger passes before the reply reaches the caller.
	Linger time.Duration
	// After fails the call after it took effect.
	After error
	// Hit is called when the fault has struck, before the caller learns of it.
	Hit func()

	// underway makes a call that is left behind tell when it has ended, as one does that
	// goes on in its caller's process. Without it such a call is lost in the network.
	underway bool
}

// isZero reports whether nothing goes wrong.
func (f *Fault) isZero() bool {
	return f.Delay == 0 && f.Before == nil && f.Linger == 0 && f.After == nil && f.Hit == nil
}

// faults are the switches of one backend or store. A call whose context ends while it
// is delayed or frozen returns at once, and reaches the store later all the same, as a
// packet on its way would.
type faults struct {
	methods     []Method
	lacking     []Method // that only others have
	unavailable error    // what a call gets that cannot be sent

	mu       sync.Mutex
	next     map[Method][]Fault
	numbered map[Method]map[int]Fault
	lasting  Fault // of every call
	calls    map[Method]int
	returned map[Method]int
	ice      chan struct{} // closed to thaw; nil when not frozen
	lag      time.Duration // of every call
	late     latecomers
}

func newFaults(unavailable error, methods, lacking []Method) *faults {
	isLacking := func(m Method) bool { return slices.Contains(lacking, m) }
	return &faults{
		methods: slices.DeleteFunc(methods, isLacking), lacking: lacking, unavailable: unavailable,
		next: make(map[Method][]Fault), numbered: make(map[Method]map[int]Fault),
		calls: make(map[Method]int), returned: make(map[Method]int),
	}
}

// mustHave panics of a method that there is not, or not inside: a call of that is refused, so
// what a test says of it would come to nothing.
func (f *faults) mustHave(m Method) {
	if slices.Contains(f.methods, m) {
		return
	}
	if slices.Contains(f.lacking, m) {
		panic(fmt.Sprintf("bedrocktest: the one inside has no method %s", m)) // a mistake in the test
	}
	var names []string
	for _, known := range f.methods {
		names = append(names, string(known))
	}
	panic(fmt.Sprintf("bedrocktest: there is no method %q%s; want one of %s", // a mistake in the test
		m, nearest.Hint(string(m), names), strings.Join(names, ", ")))
}

// Fail makes the next calls of a method fail, one per fault.
func (f *faults) Fail(m Method, next ...Fault) {
	f.mustHave(m)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next[m] = append(f.next[m], next...)
}

// FailCall makes one call of a method fail: the nth since the beginning, from 1.
func (f *faults) FailCall(m Method, n int, fault Fault) {
	f.mustHave(m)
	f.mu.Lock()
	defer f.mu.Unlock()
	if made := f.calls[m]; n <= made {
		// A mistake in the test.
		panic(fmt.Sprintf("bedrocktest: call %d of %s cannot fail: %d were made", n, m, made))
	}
	if f.numbered[m] == nil {
		f.numbered[m] = make(map[int]Fault)
	}
	f.numbered[m][n] = fault
}

// LoseReply makes the next call of a method take effect, and fail with [ErrReplyLost].
func (f *faults) LoseReply(m Method) { f.Fail(m, Fault{After: ErrReplyLost}) }

// Down makes every call fail as on a server that cannot be reached, until Up: nothing
// happens, and asking again may help.
func (f *faults) Down() { f.FailAll(Fault{Before: f.unavailable}) }

// FailAll makes every call of every method fail, until Up.
func (f *faults) FailAll(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lasting = fault
}

// Up ends Down and FailAll.
func (f *faults) Up() { f.FailAll(Fault{}) }

// Freeze holds every call up until Thaw. Who does not want to wait leaves with its
// context; what it has asked for happens after the thaw.
func (f *faults) Freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ice == nil {
		f.ice = make(chan struct{})
	}
}

// Thaw lets go what is frozen.
func (f *faults) Thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ice != nil {
		close(f.ice)
		f.ice = nil
	}
}

// Lag holds up by d every request made from now on.
func (f *faults) Lag(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lag = d
}

// Calls returns how often the method was called.
func (f *faults) Calls(m Method) int {
	f.mustHave(m)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[m]
}

// AllCalls returns how often anything was called.
func (f *faults) AllCalls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := 0
	for _, n := range f.calls {
		sum += n
	}
	return sum
}

// Returned returns how many calls of the method have come back to their caller.
func (f *faults) Returned(m Method) int {
	f.mustHave(m)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.returned[m]
}

// WaitLate returns when no call is delayed or frozen any more: what was left behind by its
// caller has arrived.
func (f *faults) WaitLate() { f.late.waitNone() }

// countCall counts a call and returns what is to happen to it.
func (f *faults) countCall(m Method) (Fault, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[m]++
	fault := f.faultOf(m)
	if f.lag > 0 {
		fault.Delay, fault.underway = fault.Delay+f.lag, true
	}
	return fault, f.ice
}

// faultOf takes the fault of the call that was counted last. f.mu is held.
func (f *faults) faultOf(m Method) Fault {
	if !f.lasting.isZero() {
		return f.lasting
	}
	if fault, ok := f.numbered[m][f.calls[m]]; ok {
		return fault
	}
	planned := f.next[m]
	if len(planned) == 0 {
		return Fault{}
	}
	f.next[m] = planned[1:]
	return planned[0]
}

func (f *faults) countReturn(m Method) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.returned[m]++
}

// reply is what a call comes to.
type reply[T any] struct {
	value T
	err   error
}

// through makes a call the way its fault wants it. The call may go on when its caller
// has left, so it must not touch what belongs to the caller.
func through[T any](ctx context.Context, f *faults, m Method, call func(context.Context) (T, error)) (T, error) {
	return throughOrDrop(ctx, f, m, call, func(T) {})
}

// throughOrDrop does the same, and drops what its caller does not get.
func throughOrDrop[T any](
	ctx context.Context, f *faults, m Method, call func(context.Context) (T, error), drop func(T),
) (none T, err error) {
	defer f.countReturn(m)
	fault, ice := f.countCall(m)
	if fault.isZero() && ice == nil {
		return call(ctx)
	}
	replies, left, ended := make(chan reply[T]), make(chan struct{}), make(chan struct{})
	f.late.add()
	go func() {
		defer f.late.remove()
		defer close(ended)
		r := suffer(ctx, fault, ice, call, drop)
		select {
		case replies <- r:
		case <-left:
			r.drop(drop)
		}
	}()
	select {
	case r := <-replies:
		return r.value, r.err
	case <-ctx.Done():
		close(left)
		err := errors.Join(ErrReplyLost, ctx.Err())
		if fault.underway {
			err = &driver.UnderwayError{Err: err, Ended: ended}
		}
		return none, err
	}
}

// drop drops what a call has brought, if it has brought anything.
func (r *reply[T]) drop(drop func(T)) {
	if r.err == nil {
		drop(r.value)
	}
}

// suffer makes a call through a fault, whether or not the caller still waits.
func suffer[T any](
	ctx context.Context, fault Fault, ice <-chan struct{}, call func(context.Context) (T, error), drop func(T),
) (r reply[T]) {
	if ice != nil {
		<-ice
	}
	time.Sleep(fault.Delay)
	if fault.Hit != nil {
		defer fault.Hit()
	}
	if fault.Before != nil {
		r.err = fault.Before
		return r
	}
	r.value, r.err = call(context.WithoutCancel(ctx))
	time.Sleep(fault.Linger)
	if fault.After != nil {
		r.drop(drop)
		r = reply[T]{err: fault.After}
	}
	return r
}
