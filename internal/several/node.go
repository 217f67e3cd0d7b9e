package several

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Node is one of the stores.
type Node struct {
	Backend driver.Backend

	index  int
	stores *Stores
	owed   owed

	asked   atomic.Int64 // since when it has not answered, 0 if it has
	away    atomic.Bool  // it has not answered in time
	mu      sync.Mutex
	pause   time.Duration // for how long it is left alone
	again   time.Duration // when it is asked again
	looking time.Duration // since when somebody asks it, to find out whether it is back; 0 if nobody does

	introduced atomic.Bool // it has said who it is, or that it cannot tell
}

// Number is how people call the node: the first is 1.
func (n *Node) Number() int { return n.index + 1 }

// IsAway reports whether it has not answered lately.
func (n *Node) IsAway() bool { return n.away.Load() }

// longestSilence is for how long a node is asked that answers nobody: else those would pile up who wait for it.
const longestSilence = time.Second

// MayAsk reports whether to ask it now: while it does not answer, one asks at a time, to find out whether it is back.
// Who may has to say what came of it, by Heard.
func (n *Node) MayAsk() bool {
	now := n.stores.Now()
	if !n.away.Load() {
		since := time.Duration(n.asked.Load())
		if since == 0 {
			n.asked.CompareAndSwap(0, int64(now))
		}
		if since == 0 || now-since < longestSilence {
			return true
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.away.Load() {
		n.leaveAlone(now)
	}
	if n.looking > 0 && now-n.looking < min(n.stores.rules.Retry, longestSilence) || now < n.again {
		return false
	}
	n.looking = max(now, 1)
	return true
}

// Heard records what came of a call.
func (n *Node) Heard(err error) {
	silent := isSilence(err)
	if !silent {
		n.asked.Store(0)
	}
	if !silent && !n.away.Load() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looking = 0
	switch {
	case silent:
		n.leaveAlone(n.stores.Now())
	case !n.stores.rules.OnlyPings:
		n.away.Store(false)
	}
}

// firstPause is how soon a node is asked again that has not answered once; what it was may have been this process.
const firstPause = 10 * time.Millisecond

// leaveAlone puts a node away, for ever longer. n.mu is held.
func (n *Node) leaveAlone(now time.Duration) {
	if n.away.Swap(true) {
		n.pause *= 10
	} else {
		n.pause = firstPause
	}
	n.pause = min(n.pause, n.stores.rules.Retry)
	n.again = now + n.pause
}

// heardIn records what came of a call in that context. One that its caller has broken off says nothing of the node.
func (n *Node) heardIn(ctx context.Context, err error) {
	if caller := timelimit.Caller(ctx); caller == ctx || caller.Err() == nil || !isSilence(err) {
		n.Heard(err)
		return
	}
	n.asked.Store(0)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looking = 0
}

// Ping finds out whether a node is back that did not answer, within that context. A node that cannot be asked
// for nothing is back.
func (n *Node) Ping(ctx context.Context) {
	err := n.stores.identifyAnew(ctx, n)
	if silent := isSilence(err); silent {
		n.Heard(err)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looking = 0
	n.away.Store(false)
	n.asked.Store(0)
}

// IsPresent reports whether it has answered at all, and lately.
func (n *Node) IsPresent() bool { return n.introduced.Load() && !n.away.Load() }

// PingInBackground asks nodes that do not answer for a sign of life, when it is time, where that is how they come back.
func (s *Stores) PingInBackground() {
	if !s.rules.OnlyPings {
		return
	}
	for _, n := range s.Nodes {
		if n.IsAway() && n.MayAsk() {
			s.work.Go(func() { n.pingWithin(s.rules.Listen) })
		}
	}
}

func (n *Node) pingWithin(d time.Duration) {
	limit, enough := context.WithTimeout(n.stores.background, d)
	defer enough()
	n.Ping(limit)
}

// PingAbsent asks all nodes that have not answered, or not lately, for a sign of life, and waits for that.
func (s *Stores) PingAbsent(ctx context.Context) {
	s.pingThose(ctx, func(n *Node) bool { return !n.IsPresent() })
}

// PingNew asks all nodes that nobody has asked yet for a sign of life, and waits for that.
func (s *Stores) PingNew(ctx context.Context) {
	s.pingThose(ctx, func(n *Node) bool { return !n.introduced.Load() && !n.away.Load() })
}

func (s *Stores) pingThose(ctx context.Context, are func(*Node) bool) {
	var group sync.WaitGroup
	for _, n := range s.nodesThat(are) {
		group.Go(func() { n.Ping(ctx) })
	}
	group.Wait()
}

// isSilence reports whether an error tells that a node does not answer. One that is too young does.
func isSilence(err error) bool {
	switch {
	case err == nil, errors.Is(err, driver.ErrLost), errors.Is(err, driver.ErrYoung):
		return false
	case errors.Is(err, driver.ErrUnavailable):
		return true
	}
	return !settle.NothingHappened(err)
}
