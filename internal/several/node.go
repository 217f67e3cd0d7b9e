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
	again   time.Duration // when it is asked again
	looking bool          // somebody asks it, to find out whether it is back
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
	if n.looking || now < n.again {
		return false
	}
	n.looking = true
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
	n.looking = false
	switch {
	case silent:
		n.leaveAlone(n.stores.Now())
	case !n.stores.rules.OnlyPings:
		n.away.Store(false)
	}
}

// leaveAlone puts a node away. n.mu is held.
func (n *Node) leaveAlone(now time.Duration) {
	n.away.Store(true)
	n.again = now + n.stores.rules.Retry
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
	n.looking = false
}

// Ping finds out whether a node is back that did not answer, within that context. A node that cannot be asked
// for nothing is back.
func (n *Node) Ping(ctx context.Context) {
	_, err := identityOf(ctx, n)
	if silent := isSilence(err); silent {
		n.Heard(err)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looking = false
	n.away.Store(false)
	n.asked.Store(0)
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
