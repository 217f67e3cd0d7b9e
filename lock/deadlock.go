package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// ErrDeadlock says that those who hold a lock wait for each other, in a circle. The error is a [*DeadlockError].
var ErrDeadlock = errors.New("deadlock")

// DeadlockError tells of a circle of holders each of whom waits for what the next one has. It matches [ErrDeadlock].
type DeadlockError struct {
	// Name is what was waited for.
	Name string
	// Cycle begins with who has it. The last one waits for what the waiter itself has.
	Cycle []Wait
}

// Wait is one of those in a circle.
type Wait struct {
	// Has is the name that Holder has, Waits the one that it waits for.
	Has, Waits string
	Holder     Holder
}

// Error implements error.
func (e *DeadlockError) Error() string {
	waits := make([]string, len(e.Cycle))
	for i, w := range e.Cycle {
		waits[i] = fmt.Sprintf("%q is held by %s, who waits for %q", w.Has, w.Holder.process(), w.Waits)
	}
	return fmt.Sprintf("lock %q: deadlock: %s, which is held here", e.Name, strings.Join(waits, "; "))
}

// Is reports whether target is [ErrDeadlock].
func (e *DeadlockError) Is(target error) bool { return target == ErrDeadlock }

// process says where a holder is, if it tells, else who it is.
func (h Holder) process() string {
	host, pid := h.Meta["host"], h.Meta["pid"]
	if host == "" || pid == "" {
		return fmt.Sprintf("%q", h.Owner)
	}
	return fmt.Sprintf("process %s on %q", pid, host)
}

// lockSearching waits for the lock as lockOver does, for who has others already: it fails where they all wait for each
// other.
func (m *Mutex) lockSearching(ctx, limited context.Context, over string) (*Lease, error) {
	c := m.client
	watched, cancel := context.WithCancelCause(limited)
	defer cancel(nil)
	s := &search{client: c, want: &m.want, over: over, ctx: watched, leases: carriedLeases(ctx), cancel: cancel}
	if !c.queues.addWork(m.want.name) {
		return nil, opError("lock", m.want.name, ErrClosed)
	}
	timer := time.AfterFunc(cycleAfter, func() {
		defer c.work.Done()
		s.run()
	})
	lease, err := c.acquire(watched, ctx, &m.want, over, false)
	if timer.Stop() {
		c.work.Done()
	}
	found := s.found.Load()
	if found != nil && err != nil && context.Cause(watched) == error(found) { //nolint:errorlint // not another Lock's
		return nil, found.after(err)
	}
	return lease, err
}

// after returns the error of a wait that was ended by it.
func (e *DeadlockError) after(err error) error {
	if MaybeApplied(err) {
		return outcome.Unknown(e)
	}
	return e
}

// carriedLeases returns the leases that a context carries, of any client.
func carriedLeases(ctx context.Context) (leases []*Lease) {
	l, _ := ctx.Value(leaseKey{}).(*Lease)
	for ; l != nil; l = l.outer() {
		leases = append(leases, l)
	}
	return leases
}

// search says what somebody waits for, with leases of other locks in hand, and looks for a circle of which that is
// part.
type search struct {
	client *Client
	want   *want
	over   string          // the owner of what is in nobody's way
	ctx    context.Context //nolint:containedctx // that of the wait
	leases []*Lease
	noted  map[*hold]string // what is said beside each
	cancel context.CancelCauseFunc
	found  atomic.Pointer[DeadlockError]
}

// How a circle is looked for.
const (
	cycleAfter   = time.Second            // who waits for longer says so, and looks
	cycleConfirm = 500 * time.Millisecond // a circle that is still there then is one
	cyclePause   = 8 * time.Second        // the longest between two looks
	cycleOthers  = 6                      // so often it is seen before somebody gives up whose turn that is not
	cycleNext    = 3                      // and once more so often for each whose turn is before
)

// run goes on until the wait is over.
func (s *search) run() {
	ended := make(chan struct{}, 1)
	for _, l := range s.leases {
		stop := context.AfterFunc(l.Context(), func() {
			select {
			case ended <- struct{}{}:
			default:
			}
		})
		defer stop()
	}
	s.noted = make(map[*hold]string)
	defer s.takeNotesBack(nil)
	last, seen, pause := "", 0, cycleConfirm
	for s.ctx.Err() == nil {
		holds := s.liveHolds()
		s.takeNotesBack(holds)
		if len(holds) == 0 {
			return
		}
		s.noteAt(holds)
		cycle, me := s.findCycle(holds)
		if key := cycleKey(cycle); key != last {
			last, seen = key, 0
		}
		if cycle != nil {
			seen, pause = seen+1, cycleConfirm
			if seen >= looksBefore(cycle, me) {
				s.found.Store(&DeadlockError{Name: s.want.name, Cycle: cycle})
				s.cancel(s.found.Load())
				return
			}
		}
		s.pauseFor(s.client.jitter(pause), ended)
		pause = min(2*pause, cyclePause)
	}
}

// pauseFor passes some time, until a lease has ended or the wait.
func (s *search) pauseFor(d time.Duration, ended <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	case <-s.ctx.Done():
	}
}

// liveHolds returns what the leases hold that are not over.
func (s *search) liveHolds() map[*hold]bool {
	holds := make(map[*hold]bool)
	for _, l := range s.leases {
		if l.Err() == nil {
			holds[l.hold] = true
		}
	}
	return holds
}

// noteAt has the store say beside those that somebody waits with them in hand.
func (s *search) noteAt(holds map[*hold]bool) {
	for h := range holds {
		if s.noted[h] != "" {
			continue
		}
		if w := s.wishAt(h); w != "" {
			s.noted[h] = w
			h.noteWait(w)
		}
	}
}

// takeNotesBack takes back what is said beside all but those.
func (s *search) takeNotesBack(but map[*hold]bool) {
	for h, said := range s.noted {
		if !but[h] {
			delete(s.noted, h)
			h.inBackground(func() { h.noteWaitOver(said) })
		}
	}
}

// looksBefore returns how often a circle is seen before the wait of the one who looks ends: all of it find the same
// order among them, and the first soon goes.
func looksBefore(cycle []Wait, me string) int {
	before := 0
	for _, w := range cycle {
		if driver.AsPublicOwner(w.Holder.Owner) > me {
			before++
		}
	}
	if before == 0 {
		return 2
	}
	return cycleOthers + cycleNext*(before-1)
}

func cycleKey(cycle []Wait) string {
	var key strings.Builder
	for _, w := range cycle {
		key.WriteString(w.Holder.Owner + "\x00" + w.Has + "\x00")
	}
	return key.String()
}
