package coord

import "github.com/bedrock-go/bedrock/txn/plan"

// blame remembers which target holds a transaction up.
type blame struct {
	lane       *lane // nil if none does
	held       bool  // it was not called, because it is down
	recoveries int   // how often it had recovered by then
}

// enter looks at an answer.
func (b *blame) enter(a answer) {
	l := a.flight.lane
	held := a.Kind == plan.Held && a.Down
	switch {
	case l == nil:
	case held || a.Kind == plan.Failed || a.Kind == plan.Unreached:
		*b = blame{lane: l, held: held, recoveries: a.recoveries}
	case b.lane == l:
		*b = blame{}
	}
}

// waits names the target that the transaction is to be fetched for when that has
// recovered, instead of sitting out its pause. One that was fetched for it, and called
// and failed, is not fetched again within the same pause.
func (b *blame) waits(fetched string) string {
	if b.lane == nil || b.lane.name == fetched && !b.held && !b.lane.breaker.isOpen() {
		return ""
	}
	return b.lane.name
}

// over tells whether the target has recovered since.
func (b *blame) over() bool { return b.lane.breaker.recovered() != b.recoveries }
