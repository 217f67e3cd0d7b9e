package record

import (
	"bytes"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// state is what has happened, as it is stored.
type state struct {
	Reason   string         `json:"reason,omitempty"`
	Decided  int64          `json:"decided,omitempty"` // µs
	Progress []txn.Progress `json:"progress,omitempty"`
	Checked  txn.Op         `json:"checked,omitzero"`
	Attempts []txn.Attempt  `json:"attempts,omitempty"`
	Dropped  int            `json:"dropped,omitempty"`
	// Complete: nothing had been called that is not entered here when this was written,
	// under this epoch. Whoever claims the record may call before it writes. A record without
	// it was left behind by a crash, and its idle branches may have been called.
	Complete bool  `json:"complete,omitempty"`
	Epoch    int64 `json:"epoch,omitempty"`
}

// The state is written at least twice per transaction, so it is encoded by hand: three
// times as fast as by reflection, and in one allocation (docs/adr/0028). It says what the
// JSON of encoding/json would say, and is read back by that.

// EncodeState stores what has happened.
func EncodeState(t *txn.Transaction, complete bool) []byte {
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
	if op := &t.Checked; isTouched(op) {
		b = appendOp(append(b, `,"checked":`...), op)
	}
	if len(t.Attempts) > 0 {
		b = appendList(append(b, `,"attempts":`...), t.Attempts, appendAttempt)
	}
	if t.Dropped != 0 {
		b = strconv.AppendInt(append(b, `,"dropped":`...), int64(t.Dropped), 10)
	}
	if complete {
		b = appendComplete(b, t.Epoch)
	}
	return append(b, '}')
}

// appendComplete is the end of a state that is complete: who reads it has to know whether
// the record has had another owner since.
func appendComplete(b []byte, epoch int64) []byte {
	return strconv.AppendInt(append(b, `,"complete":true,"epoch":`...), epoch, 10)
}

// HandOn makes a complete state one of the next epoch, whose owner has called nobody. All
// else stays as it is: it may be of a version that knows more.
func HandOn(state []byte, epoch int64) []byte {
	if before, ok := bytes.CutSuffix(state, append(appendComplete(nil, epoch-1), '}')); ok {
		return append(appendComplete(bytes.Clone(before), epoch), '}')
	}
	return state
}

func appendProgress(b []byte, p *txn.Progress) []byte {
	b = append(b, '{')
	first := true
	for _, f := range [...]struct {
		name string
		op   *txn.Op
	}{{`"do":`, &p.Do}, {`"confirm":`, &p.Confirm}, {`"undo":`, &p.Undo}, {`"hook":`, &p.Hook}} {
		if !isTouched(f.op) {
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

// isTouched reports whether there is anything to store about an operation.
func isTouched(op *txn.Op) bool {
	return stateOf(op) != txn.Idle || op.Calls != 0 || op.Tries != 0 || !op.Due.IsZero() ||
		op.Result != nil || op.Note != "" || op.Spent || op.Held || op.Lacking != 0 || op.Lasting != 0
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

// dueOf is when an operation is due, for others to read. Of one that is called early it is
// the end of its pause, which goes on if nobody hears how that call ends.
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
