package coord

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// The state is written at least twice per transaction, so it is encoded by hand:
// several times faster than by reflection, mostly because nearly all fields are
// empty. It is the JSON that encoding/json would write, and is read back by it.

// encodeState stores what has happened.
func encodeState(t *txn.Transaction, complete bool) []byte {
	b := make([]byte, 0, 256+128*len(t.Progress)+192*len(t.Attempts))
	b = append(b, '{')
	if t.Reason != "" {
		b = appendText(append(b, `"reason":`...), t.Reason)
		b = append(b, ',')
	}
	if !t.Decided.IsZero() {
		b = strconv.AppendInt(append(b, `"decided":`...), t.Decided.UnixMicro(), 10)
		b = append(b, ',')
	}
	b = appendList(append(b, `"progress":`...), t.Progress, appendProgress)
	if op := &t.Checked; touchedOp(op) {
		b = appendOp(append(b, `,"checked":`...), op)
	}
	if len(t.Attempts) > 0 {
		b = appendList(append(b, `,"attempts":`...), t.Attempts, appendAttempt)
	}
	if t.Dropped > 0 {
		b = strconv.AppendInt(append(b, `,"dropped":`...), int64(t.Dropped), 10)
	}
	if complete {
		b = append(b, completeUnder(t.Epoch)...)
	}
	return append(b, '}')
}

// completeUnder is the end of a state that is complete: who reads it has to know whether
// the record has had another owner since.
func completeUnder(epoch int64) []byte {
	return strconv.AppendInt([]byte(`,"complete":true,"epoch":`), epoch, 10)
}

// handOn makes a complete state one of the next epoch, whose owner has called nobody. All
// else stays as it is: it may be of a version that knows more.
func handOn(state []byte, epoch int64) []byte {
	if rest, ok := bytes.CutSuffix(state, append(completeUnder(epoch-1), '}')); ok {
		return append(append(bytes.Clone(rest), completeUnder(epoch)...), '}')
	}
	return state
}

func appendList[T any](b []byte, items []T, appendOne func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendOne(b, &items[i])
	}
	return append(b, ']')
}

func appendProgress(b []byte, p *txn.Progress) []byte {
	b = append(b, '{')
	first := true
	for _, f := range [...]struct {
		name string
		op   *txn.Op
	}{{`"do":`, &p.Do}, {`"confirm":`, &p.Confirm}, {`"undo":`, &p.Undo}, {`"hook":`, &p.Hook}} {
		if !touchedOp(f.op) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendOp(append(b, f.name...), f.op)
	}
	return append(b, '}')
}

// touchedOp tells whether there is anything to store about an operation.
func touchedOp(op *txn.Op) bool {
	return stateOf(op) != txn.Idle || op.Calls != 0 || op.Tries != 0 || !op.Due.IsZero() ||
		op.Result != nil || op.Note != "" || op.Spent || op.Held || op.Lacking != 0
}

// stateOf is the state of an operation for others to read: a call that is under way
// may take effect, and should its caller die, nobody else knows that it was made.
// A decision may be written while calls from before it are still out.
func stateOf(op *txn.Op) txn.OpState {
	if op.InFlight && op.State == txn.Idle {
		return txn.Unsure
	}
	return op.State
}

// dueOf is when an operation is due for others to read: the pause in which it is called
// early goes on, should nobody hear how that call ends.
func dueOf(op *txn.Op) time.Time {
	if !op.Early.IsZero() {
		return op.Early
	}
	return op.Due
}

func appendOp(b []byte, op *txn.Op) []byte {
	b = appendText(append(b, `{"s":`...), string(stateOf(op)))
	b = appendCount(b, `,"t":`, op.Tries)
	b = appendCount(b, `,"c":`, op.Calls)
	b = appendCount(b, `,"l":`, op.Lasting)
	b = appendCount(b, `,"k":`, op.Lacking)
	if due := dueOf(op); !due.IsZero() {
		b = appendTime(append(b, `,"d":`...), due)
	}
	if op.Result != nil {
		b = appendBytes(append(b, `,"r":`...), op.Result)
	}
	if op.Note != "" {
		b = appendText(append(b, `,"n":`...), op.Note)
	}
	if op.Spent {
		b = append(b, `,"x":true`...)
	}
	if op.Held {
		b = append(b, `,"h":true`...)
	}
	return append(b, '}')
}

func appendAttempt(b []byte, a *txn.Attempt) []byte {
	b = appendText(append(b, `{"o":`...), a.Op)
	b = appendTime(append(b, `,"a":`...), a.At)
	b = appendText(append(b, `,"r":`...), a.Answer)
	for _, f := range [...]struct{ name, value string }{
		{`,"b":`, a.Branch}, {`,"t":`, string(a.Target)}, {`,"x":`, a.Excerpt}, {`,"w":`, a.By},
	} {
		if f.value != "" {
			b = appendText(append(b, f.name...), f.value)
		}
	}
	b = appendCount(b, `,"n":`, a.Number)
	b = appendCount(b, `,"d":`, int(a.Took))
	b = appendCount(b, `,"m":`, a.Count)
	if !a.Until.IsZero() {
		b = appendTime(append(b, `,"u":`...), a.Until)
	}
	return append(b, '}')
}

func appendCount(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

func appendBytes(b, data []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, '"')
}

// appendText quotes a text. The ordinary ones need no escapes.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, _ := json.Marshal(s) // a string can always be encoded
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
