package subject

import "context"

// Kind is what kind of lock a subject has.
type Kind int

// The kinds.
const (
	// Plain is a mutex whose waiters are served in no promised order.
	Plain Kind = iota
	// Fair is a mutex that goes to who has waited for longest, across processes.
	Fair
	// ReadWrite may be had by many to read.
	ReadWrite
	// Permits is a number of permits, see [PermitCount].
	Permits
	// TwoNames is two mutexes that are had at the same time.
	TwoNames
	// Leadership is an election: the mutex is had by who leads.
	Leadership
)

// PermitCount is how many may have a lock of kind [Permits] at once.
const PermitCount = 8

// ReadWriter is implemented by lockers whose mutexes have another side, which many may have to read.
type ReadWriter interface {
	// Reader returns that side of the mutex of a name for the use of one goroutine.
	Reader(name string) Mutex
}

// Latches is implemented by lockers that have latches, too.
type Latches interface {
	// Latch returns the latch of a name.
	Latch(name string) Latch
}

// Latch is a count that others wait for to come down to zero.
type Latch interface {
	// Set gives it its count, and reports whether it had none.
	Set(ctx context.Context, count int) (bool, error)
	// CountDown takes 1 from that, and returns what is left.
	CountDown(ctx context.Context) (int, error)
	// Await waits until nothing is left.
	Await(ctx context.Context) error
}
