package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
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

// search looks for a circle that somebody is part of who waits for a lock, with a context that carries leases.
type search struct {
	client *Client
	name   string
	ctx    context.Context //nolint:containedctx // that of the wait
	holds  []*hold         // what it has
	cancel context.CancelCauseFunc
}

// How a circle is looked for.
const (
	cycleAfter   = time.Second            // who waits for longer says so, and looks
	cycleConfirm = 500 * time.Millisecond // a circle that is still there then is one
	cyclePause   = 8 * time.Second        // the longest between two looks
	cycleOthers  = 6                      // so often it is seen before somebody gives up whose turn that is not
	cycleLongest = 16                     // holders
)

// lockSearching waits for the lock as lockOver does, for who has others already: it fails where they all wait for each
// other.
func (m *Mutex) lockSearching(ctx, limited context.Context, over string) (*Lease, error) {
	c := m.client
	watched, cancel := context.WithCancelCause(limited)
	defer cancel(nil)
	s := &search{client: c, name: m.want.name, ctx: watched, cancel: cancel}
	if !c.queues.addWork(m.want.name) {
		return nil, opError("lock", m.want.name, ErrClosed)
	}
	timer := time.AfterFunc(cycleAfter, func() {
		defer c.work.Done()
		s.run(ctx)
	})
	lease, err := c.acquire(watched, ctx, &m.want, over, false)
	if timer.Stop() {
		c.work.Done()
	}
	if found, ok := errors.AsType[*DeadlockError](context.Cause(watched)); ok && err != nil {
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

// run says what is waited for beside all that is held meanwhile, and looks for a circle until the wait is over.
func (s *search) run(carrier context.Context) {
	if s.holds = carriedHolds(carrier); len(s.holds) == 0 {
		return
	}
	for _, h := range s.holds {
		h.noteWait(s.name)
	}
	defer func() {
		for _, h := range s.holds {
			h.noteWaitOver(s.name)
		}
	}()
	last, seen, pause := "", 0, cycleConfirm
	for s.ctx.Err() == nil {
		cycle, me := s.findCycle()
		key := cycleKey(cycle)
		if key != last || cycle == nil {
			last, seen = key, 0
		}
		if cycle != nil {
			seen++
			if seen >= cycleOthers || seen > 1 && givesUp(cycle, me) {
				s.cancel(&DeadlockError{Name: s.name, Cycle: cycle})
				return
			}
			pause = cycleConfirm
		}
		if !sleep.For(s.ctx, pause) {
			return
		}
		pause = min(2*pause, cyclePause)
	}
}

// carriedHolds returns what the leases that a context carries hold, of any client.
func carriedHolds(ctx context.Context) (holds []*hold) {
	l, _ := ctx.Value(leaseKey{}).(*Lease)
	for ; l != nil; l = l.outer() {
		if l.Err() == nil && !slices.Contains(holds, l.hold) {
			holds = append(holds, l.hold)
		}
	}
	return holds
}

// givesUp reports whether it is this one of a circle whose wait ends: all of them find the same one.
func givesUp(cycle []Wait, me string) bool {
	return !slices.ContainsFunc(cycle, func(w Wait) bool { return publicOf(w.Holder.Owner) > me })
}

func cycleKey(cycle []Wait) string {
	var key strings.Builder
	for _, w := range cycle {
		key.WriteString(w.Holder.Owner + "\x00" + w.Has + "\x00")
	}
	return key.String()
}

// publicOf returns an owner as every backend may tell it.
func publicOf(owner string) string {
	if strings.HasPrefix(owner, "#") {
		return owner
	}
	return driver.PublicOwner(owner)
}

// findCycle returns a circle, and as whom the one who looks is in it; nil if it finds none. It goes from who has the
// lock to what they wait for, and on. Permits are left out: any holder may give some back.
func (s *search) findCycle() (cycle []Wait, me string) {
	visited := map[string]bool{s.name: true}
	paths := [][]Wait{{{Waits: s.name}}}
	for len(paths) > 0 {
		path := paths[0]
		paths = paths[1:]
		name := path[len(path)-1].Waits
		info, err := s.client.Inspect(s.ctx, name)
		if err != nil || info.Kind == driver.Semaphore {
			continue
		}
		if me := s.ownerHere(name, &info); me != "" {
			return path[1:], me
		}
		for _, h := range info.Holders {
			for _, next := range h.Waits {
				if !visited[next] && len(path) <= cycleLongest {
					visited[next] = true
					paths = append(paths, append(slices.Clone(path), Wait{Has: name, Waits: next, Holder: h}))
				}
			}
		}
	}
	return nil, ""
}

// ownerHere returns as whom the one who looks has a name, empty if it has not. It may have it of another client: then
// nobody has it here.
func (s *search) ownerHere(name string, info *Info) string {
	for _, h := range s.holds {
		if h.grant.Name != name {
			continue
		}
		owner := driver.PublicOwner(h.grant.Owner)
		if h.q.client != s.client && !info.Held() ||
			slices.ContainsFunc(info.Holders, func(o Holder) bool { return publicOf(o.Owner) == owner }) {
			return owner
		}
	}
	return ""
}
