package txns

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bedrock-go/bedrock/txn"
)

// ledger keeps what took effect at all participants, who follow the barrier's rules.
type ledger struct {
	mu      sync.Mutex
	effects map[part][]string
	seen    map[mark]bool
	taken   map[string]bool // local transactions of producers that were committed
}

type part struct{ id, branch string }

type mark struct {
	part
	op string
}

func newLedger() *ledger {
	return &ledger{effects: make(map[part][]string), seen: make(map[mark]bool), taken: make(map[string]bool)}
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

var errTooLate = errors.New("it was undone before")

// doOnce does what a call asks for, unless it was done.
func (l *ledger) doOnce(call *txn.Call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if call.Op == "check" {
		if l.taken[call.Transaction] {
			return nil
		}
		return txn.Abort(errors.New("not committed"))
	}
	p := part{call.Transaction, call.Branch}
	if from := undoneBy(call.Op); from != "" && !l.seen[mark{p, from}] {
		l.seen[mark{p, from}], l.seen[mark{p, call.Op}] = true, true // an empty undo, and no do after it
		return nil
	}
	m := mark{p, call.Op}
	if l.seen[m] {
		if (call.Op == "action" || call.Op == "try") && (l.seen[mark{p, "compensate"}] || l.seen[mark{p, "cancel"}]) {
			return txn.Abort(errTooLate)
		}
		return nil
	}
	l.seen[m] = true
	l.effects[p] = append(l.effects[p], call.Op)
	return nil
}

// wasDone reports whether something was done, or undone, before.
func (l *ledger) wasDone(call *txn.Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[mark{part{call.Transaction, call.Branch}, call.Op}]
}

// check compares the effects of a transaction with its outcome.
func (l *ledger) check(t *txn.Transaction) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range t.Branches {
		b := &t.Branches[i]
		got := l.effects[part{t.ID, b.ID}]
		if !slices.ContainsFunc(allowedEffects(t, b), func(want []string) bool { return slices.Equal(got, want) }) {
			return fmt.Errorf("%s is %s, but branch %s had the effects %v", t.ID, t.Status, b.ID, got)
		}
	}
	return nil
}

// allowedEffects lists what may have taken effect at a branch. What goes by a message of its
// own takes effect under another ID.
func allowedEffects(t *txn.Transaction, b *txn.Branch) [][]string {
	var effects []string
	add := func(to txn.Target, op string) {
		if to != "" && !assured(to) {
			effects = append(effects, op)
		}
	}
	committed := t.Status == txn.Committed
	switch {
	case t.Mode == "saga" && committed:
		add(b.Do, "action")
	case t.Mode == "saga":
		return [][]string{nil, {"action", "compensate"}, undoneOnly(b)}
	case t.Mode == "tcc" && committed:
		add(b.Do, "try")
		add(b.Confirm, "confirm")
	case t.Mode == "tcc":
		return [][]string{nil, {"try", "cancel"}}
	case committed:
		add(b.Confirm, "deliver")
	}
	return [][]string{effects}
}

// undoneOnly is what is left of a step that nothing can undo.
func undoneOnly(b *txn.Branch) []string {
	if b.Undo == "" {
		return []string{"action"}
	}
	return nil
}

func assured(to txn.Target) bool { return to.Scheme() == txn.SchemeAsync }
