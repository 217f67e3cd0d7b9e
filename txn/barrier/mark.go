package barrier

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/txn"
)

// key names a mark: what identifies a coordinator's call, by whichever way it comes.
type key struct{ transaction, branch, op string }

// args are the key's columns, for queries.
func (k key) args() []any { return []any{k.transaction, k.branch, k.op} }

// mark is one row of the barrier's table.
type mark struct {
	key

	// cause is the operation that set the mark: op itself when its work was done,
	// the one that takes it back when that came first, or causeRefused.
	cause string
	// epoch and attempt are the call's, to tell a late delivery from a newer call.
	epoch   int64
	attempt int64
	// result is what the work returned, or the reason of a refusal.
	result []byte

	mode string
}

// causeRefused marks an operation that was refused by the business.
const causeRefused = "refused"

// younger reports whether a mark comes from a newer call than another one.
func (m mark) younger(than mark) bool {
	return m.epoch > than.epoch || m.epoch == than.epoch && m.attempt > than.attempt
}

// mark is the mark of a call whose work is done.
func (l *layout) mark(call txn.Call) mark {
	op := l.word(call.Op)
	return mark{
		key: key{call.Transaction, call.Branch, op}, cause: op,
		epoch: call.Epoch, attempt: int64(call.Attempt), mode: call.Mode,
	}
}

// originMark is the mark that a call going back leaves for the one it takes back.
func (l *layout) originMark(own mark) (m mark, ok bool) {
	m = own
	m.op, ok = l.origins[own.op]
	return m, ok
}

// check refuses names that the table could not tell apart: MySQL would cut them
// short without a word, and PostgreSQL refuse them for a reason nobody understands.
func (l *layout) check(call txn.Call) error {
	fields := []struct {
		name, value string
		least, most int
	}{
		{"transaction", call.Transaction, 1, l.maxName},
		{"branch", call.Branch, 0, l.maxName},
		{"operation", call.Op, 1, l.maxWord},
	}
	for _, f := range fields {
		switch {
		case len(f.value) < f.least:
			return fmt.Errorf("barrier: call has no %s", f.name)
		case len(f.value) > f.most:
			return fmt.Errorf("barrier: %s of call: %d bytes, at most %d", f.name, len(f.value), f.most)
		case !utf8.ValidString(f.value) || strings.ContainsRune(f.value, 0):
			return fmt.Errorf("barrier: %s of call: %q is not text", f.name, f.value)
		}
	}
	if call.Op == causeRefused {
		return fmt.Errorf("barrier: operation of call: %q is a word of the barrier's own", call.Op)
	}
	return nil
}
