package quorum

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/several"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// How a name is asked for that others want, too. If all who are woken by a release asked all nodes at the same
// time, each would be given some votes, and none enough. So they ask one node first, the same one: whoever it
// chooses asks the others.
const (
	firstHedge  = 20 * time.Millisecond  // how long its answer is waited for
	strayVote   = 200 * time.Millisecond // it is not who has the lock that has the first node for so long, perhaps
	lookAtStray = 250 * time.Millisecond // so it is looked at again then
)

// askFirst asks one node before the others, if somebody here waits for the name already. It returns the nodes that
// are left to ask, or why to ask none.
func (e *election) askFirst(ctx context.Context) ([]*several.Node, error) {
	nodes := e.stores.Nodes
	if e.watched == nil {
		return nodes, nil
	}
	e.watched.Asks()
	at := e.firstNode()
	rest := make([]*several.Node, 0, len(nodes)-1)
	rest = append(append(rest, nodes[:at]...), nodes[at+1:]...)
	answers := several.Gather(e.stores, nodes[at:at+1], nil, e.whatToAsk())
	hedge := time.NewTimer(firstHedge)
	defer hedge.Stop()
	caller, limit := timelimit.Ends(ctx)
	select {
	case a := <-answers.C:
		e.tally.add(a.Node, a.Value)
		e.tally.pending = 0
		return rest, e.refusedFirst(a.Value.err)
	case <-hedge.C:
		return nodes, nil // its second answer comes after the first
	case <-caller:
	case <-limit:
	}
	return nil, &driver.UnderwayError{Err: ctx.Err(), Ended: answers.Ended}
}

// firstNode returns the first node that answers.
func (e *election) firstNode() int {
	for i, n := range e.stores.Nodes {
		if !n.IsAway() {
			return i
		}
	}
	return 0
}

// refusedFirst tells whether to leave it at the first node's refusal. The others are asked all the same when
// somebody has that node for a while who may not have the lock: a vote that was never given back, say.
func (e *election) refusedFirst(err error) error {
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		return nil
	}
	same, whole := e.watched.FirstRefused(held.Owner)
	switch {
	case whole:
	case same >= strayVote:
		return nil
	default:
		held = &driver.HeldError{Owner: held.Owner, TTL: min(max(held.TTL, 0), lookAtStray)}
		if driver.TimeLeft(err) == driver.UnknownTTL {
			held.TTL = lookAtStray
		}
	}
	e.stores.Forget(e.ballot)
	return held
}

// learn takes note of who has the lock, and where. Who has some votes, and not enough, for a while, has crashed
// perhaps: it is of no use to ask again at once, as after votes that were split.
func (e *election) learn(err error) {
	owner, votes := e.tally.holder()
	held, isHeld := errors.AsType[*driver.HeldError](err)
	holder, rival := owner, ""
	if !isHeld || votes < e.keep {
		holder = ""
	}
	if isHeld && votes < e.keep {
		rival = owner
	}
	if e.watched.Rival(rival) >= strayVote {
		held.TTL = lookAtStray
	}
	e.watched.Learned(holder)
	e.watched.Refused(e.tally.heldBy, len(e.tally.grants))
}
