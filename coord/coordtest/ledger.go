package coordtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// ledger is all participants in one: it keeps what took effect, and follows the
// barrier's rules, as a participant with a database would.
type ledger struct {
	mu      sync.Mutex
	effects map[key][]string // operations that took effect, in order
	seen    map[mark]bool
	refuse  string // the branch that refuses to go forward
	hang    string // the branch that never answers going forward
	slow    string // the branch whose answer going forward is late
	pause   time.Duration
}

type key struct{ tx, branch string }

type mark struct {
	key
	op string
}

func newLedger(s script, pause time.Duration) *ledger {
	return &ledger{
		effects: make(map[key][]string), seen: make(map[mark]bool),
		refuse: s.refuse, hang: s.hang, slow: s.slow, pause: pause,
	}
}

// undoneBy is the operation that another one undoes.
func undoneBy(op string) string {
	switch op {
	case "compensate":
		return "action"
	case "cancel":
		return "try"
	default:
		return ""
	}
}

// serveCall does one call.
func (l *ledger) serveCall(ctx context.Context, call txn.Call) error {
	forward := call.Op == "action" || call.Op == "try"
	if forward && call.Branch == l.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	err := l.addEffect(call, forward)
	if forward && call.Branch == l.slow {
		time.Sleep(l.pause) // done, and not yet known to be
	}
	return err
}

// addEffect enters one call.
func (l *ledger) addEffect(call txn.Call, forward bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if forward && call.Branch == l.refuse {
		return txn.Abort(errors.New("not today"))
	}
	k := key{call.Transaction, call.Branch}
	if from := undoneBy(call.Op); from != "" && !l.seen[mark{k, from}] {
		l.seen[mark{k, from}], l.seen[mark{k, call.Op}] = true, true // an empty undo, and no do after it
		return nil
	}
	m := mark{k, call.Op}
	if l.seen[m] {
		if forward && l.undone(k) {
			return txn.Abort(errors.New("too late"))
		}
		return nil
	}
	l.seen[m] = true
	l.effects[k] = append(l.effects[k], call.Op)
	return nil
}

func (l *ledger) undone(k key) bool {
	return l.seen[mark{k, "compensate"}] || l.seen[mark{k, "cancel"}]
}

// check compares the effects of a transaction with its outcome.
func (l *ledger) check(tx *txn.Transaction) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range tx.Branches {
		got := l.effects[key{tx.ID, tx.Branches[i].ID}]
		allowed := allowedOperations(tx.Mode, tx.Status)
		if !slices.ContainsFunc(allowed, func(want []string) bool { return slices.Equal(got, want) }) {
			return fmt.Errorf("%s is %s, but branch %s had the effects %v", tx.ID, tx.Status, tx.Branches[i].ID, got)
		}
	}
	return nil
}

// allowedOperations lists what may have taken effect at a branch, by mode and outcome.
func allowedOperations(mode string, end txn.Status) [][]string {
	committed := end == txn.Committed
	switch {
	case mode == "saga" && committed:
		return [][]string{{"action"}}
	case mode == "saga":
		return [][]string{nil, {"action", "compensate"}}
	case mode == "tcc" && committed:
		return [][]string{{"try", "confirm"}}
	case mode == "tcc":
		return [][]string{nil, {"try", "cancel"}}
	case committed:
		return [][]string{{"deliver"}}
	default:
		return [][]string{nil}
	}
}

// brokenCalls is the ledger as the first coordinator reaches it.
type brokenCalls struct {
	ledger *ledger
	faults *injector
	stall  time.Duration
	late   *latecomers
}

var errNoAnswer = errors.New("injected: the participant does not answer")

func (b *brokenCalls) serveCall(ctx context.Context, call txn.Call) ([]byte, error) {
	if b.faults.isDead() {
		return nil, errDead
	}
	switch b.faults.nextFault("call " + call.Op) {
	case FailBefore:
		return nil, errNoAnswer
	case FailAfter:
		_ = b.ledger.serveCall(ctx, call)
		return nil, errNoAnswer
	case DieBefore:
		b.faults.die()
		return nil, errDead
	case DieAfter:
		_ = b.ledger.serveCall(ctx, call)
		b.faults.die()
		return nil, errDead
	case Stall:
		// The network keeps it, whatever the caller does.
		return nil, b.late.delay(b.stall, func() error { return b.ledger.serveCall(ctx, call) })
	case Twice:
		second := make(chan error, 1)
		go func() { second <- b.ledger.serveCall(ctx, call) }()
		return nil, errors.Join(b.ledger.serveCall(ctx, call), <-second)
	default:
		return nil, b.ledger.serveCall(ctx, call)
	}
}
