package coord

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// payload is the body of a call, with what it takes over from earlier results: at most
// as much as all of these may have, since one of them may be taken over many times.
// A result that is missing is an error on the way forward; on the way back, where
// nothing may be refused, the field is left out.
func payload(t *txn.Transaction, s txn.Step, most int) ([]byte, error) {
	body := t.PayloadOf(s.Branch)
	use := t.Branches[s.Branch].Use
	if len(use) == 0 {
		return body, nil
	}
	object := make(map[string]json.RawMessage)
	if len(body) > 0 {
		if err := json.Unmarshal(body, &object); err != nil {
			return nil, fmt.Errorf("payload is not a JSON object: %w", err)
		}
	}
	earlier := results{t: t, left: most, most: most, objects: make(map[string]map[string]json.RawMessage)}
	for _, name := range slices.Sorted(maps.Keys(use)) {
		value, err := earlier.take(use[name])
		switch {
		case err == nil:
			object[name] = value
		case s.Phase == txn.PhaseDo && !own(t, s.Branch, use[name]):
			return nil, fmt.Errorf("use %s: %w", name, err)
		}
	}
	return json.Marshal(object)
}

// own tells whether a branch uses its own result, which it has only afterwards.
func own(t *txn.Transaction, i int, from string) bool {
	branch, _ := plan.SplitUse(from)
	return branch == t.Branches[i].ID
}

// assured is the message that carries one call. Its ID follows from the call, so
// a repeated call finds it again, if it has the same content: the headers are those of the
// transaction, without what each attempt adds. A transaction that has the ID of an earlier
// one was created at another time, and has messages of its own.
func assured(to txn.Target, call *txn.Call, created time.Time) txn.Definition {
	life := strconv.FormatInt(created.UnixMicro(), 10)
	sum := sha256.Sum256([]byte(call.Transaction + "\n" + call.Branch + "\n" + call.Op + "\n" + life))
	return txn.Definition{
		ID: "async-" + hex.EncodeToString(sum[:16]), Mode: msg.Name, Name: call.Transaction, Headers: call.Headers,
		Branches: []txn.Branch{{ID: call.Branch, Confirm: to, Payload: call.Payload}},
	}
}

const excerptLength = 256

// trim drops a result that is too large to keep.
func (c *Coordinator) trim(a *plan.Answer) {
	if len(a.Result) > c.opts.Result {
		a.Note = fmt.Sprintf("result of %d bytes not kept: at most %d", len(a.Result), c.opts.Result)
		a.Result = nil
	}
}

// attempt is the entry for a call that was made.
func (c *Coordinator) attempt(f *flight, a plan.Answer) txn.Attempt {
	us := f.began.Load()
	if us == 0 {
		return txn.Attempt{} // nobody was asked
	}
	began, text := fromMicro(us), a.Note
	if text == "" {
		text = string(a.Result[:min(len(a.Result), excerptLength)])
	}
	return txn.Attempt{
		Branch: f.call.Branch, Op: f.call.Op, Number: f.call.Attempt, Target: f.target,
		At: began, Took: c.clock.now().Sub(began).Truncate(time.Microsecond),
		Answer: string(a.Kind), Excerpt: excerpt(text), By: c.opts.Replica,
	}
}

// excerpt is the printable beginning of a text.
func excerpt(s string) string { return printable(s, excerptLength) }

func printable(s string, most int) string {
	s = strings.ToValidUTF8(s[:min(len(s), most)], "")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
}
