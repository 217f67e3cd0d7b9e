package coord

import (
	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

// blame remembers which target holds a transaction up: the one whose latest call failed or was
// held back.
type blame struct {
	lane       *lanes.Lane // nil if none does
	held       bool        // it was not called, because it is down
	recoveries int         // how often it had recovered by then
}

// addAnswer blames the target of a call that failed or was held back, and no longer one that
// answers. One whose attempts are used up is blamed, too: others may be called there again.
func (b *blame) addAnswer(a answer) {
	l := a.flight.lane
	held := a.Kind == txn.AnswerHeld && a.Down
	switch {
	case l == nil:
	case held || a.Kind == txn.AnswerFailed || a.Kind == txn.AnswerUnreached:
		*b = blame{lane: l, held: held, recoveries: a.recoveries}
	case b.lane == l:
		*b = blame{}
	}
}

// waits names the target whose recovery shall end the transaction's pause; "" is none. A
// transaction that was fetched for that target, and failed when it called it, is not
// fetched again within the same pause.
func (b *blame) waits(fetched string) string {
	if b.lane == nil || b.lane.Name() == fetched && !b.held && !b.lane.IsDown() {
		return ""
	}
	return b.lane.Name()
}

// hasRecovered reports whether the target has recovered since.
func (b *blame) hasRecovered() bool { return b.lane.Recoveries() != b.recoveries }
