package locks

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// placement says which processors the worker and the server run on.
//
// A client alone with its server runs at one of two paces, three times apart:
// slow when the two are on different processors and wake each other for every
// command, fast when they happen to share one. Left to the scheduler, subjects
// would be compared by their luck.
type placement int

const (
	// anywhere leaves it to the scheduler.
	anywhere placement = iota
	// apart gives the server a processor of its own, as on another machine.
	apart
	// sharing puts both on one processor, where nothing hides what the client
	// itself costs.
	sharing
)

// possible reports whether p can be had with that server process, 0 being one
// that runs elsewhere.
func (p placement) possible(server int) bool {
	return p != sharing || server != 0
}

// processors returns where the server and the worker run.
func (p placement) processors() (server, worker unix.CPUSet, err error) {
	if err := unix.SchedGetaffinity(0, &server); err != nil {
		return server, worker, fmt.Errorf("read processors: %w", err)
	}
	worker = server
	if p == anywhere || server.Count() < 2 {
		return server, worker, nil
	}
	first := lowestOf(server)
	server.Zero()
	server.Set(first)
	worker.Clear(first)
	if p == sharing {
		worker = server
	}
	return server, worker, nil
}

// lowestOf returns the first processor of a set that is not empty.
func lowestOf(set unix.CPUSet) (first int) {
	for !set.IsSet(first) {
		first++
	}
	return first
}

// confine puts the server, if it is ours, and everything fork starts where p
// says.
func (p placement) confine(server int, fork func() error) error {
	if server == 0 {
		return fork()
	}
	there, here, err := p.processors()
	if err != nil {
		return err
	}
	for _, thread := range child.Threads(server) {
		if err := unix.SchedSetaffinity(thread, &there); err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
			return fmt.Errorf("place server: %w", err)
		}
	}
	return onProcessors(here, fork)
}

// onProcessors calls fork with the calling thread confined to set: a child
// process inherits that.
func onProcessors(set unix.CPUSet, fork func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var usual unix.CPUSet
	if err := unix.SchedGetaffinity(0, &usual); err != nil {
		return fmt.Errorf("read processors: %w", err)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("place worker: %w", err)
	}
	err := fork()
	if back := unix.SchedSetaffinity(0, &usual); back != nil {
		return fmt.Errorf("free this thread's processors: %w", back)
	}
	return err
}
