package coord

import (
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// attempt is the entry for a call that was made.
func (c *Coordinator) attempt(f *flight, a txn.Answer) txn.Attempt {
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

// The entries kept: the first show how it began, the last how it stands.
const firstAttempts, lastAttempts = 16, 48

// addAttempt keeps an attempt. A call that went as the one before it becomes part of its
// entry, so that a transaction that tries for a day can still be read, and written;
// otherwise old entries are dropped from the middle.
func addAttempt(t *txn.Transaction, a txn.Attempt) {
	if before := findRepeated(t, &a); before != nil {
		before.Count = before.Times() + 1
		before.Until, before.Took, before.By = a.At, a.Took, a.By
		return
	}
	t.Attempts = append(t.Attempts, a)
	if len(t.Attempts) > firstAttempts+lastAttempts {
		t.Dropped += t.Attempts[firstAttempts].Times()
		t.Attempts = slices.Delete(t.Attempts, firstAttempts, firstAttempts+1)
	}
}

// findRepeated finds the entry of the branch's call before, if that went the same way.
// Calls of other branches may lie in between. The search ends where a person intervened,
// and where entries were dropped, because those may have been anything.
func findRepeated(t *txn.Transaction, a *txn.Attempt) *txn.Attempt {
	if a.Number < 2 { // nothing was called before
		return nil
	}
	known := 0
	if t.Dropped > 0 {
		known = firstAttempts
	}
	for i := len(t.Attempts) - 1; i >= known; i-- {
		switch before := &t.Attempts[i]; {
		case before.Number == 0:
			return nil
		case before.Branch == a.Branch && sameAnswer(before, a):
			return before
		case before.Branch == a.Branch:
			return nil
		}
	}
	return nil
}

func sameAnswer(a, b *txn.Attempt) bool {
	return a.Op == b.Op && a.Target == b.Target && a.Answer == b.Answer && a.Excerpt == b.Excerpt
}
