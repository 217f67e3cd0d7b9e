package coord

import (
	"slices"

	"github.com/bedrock-go/bedrock/txn"
)

// The entries kept: the first show how it began, the last how it stands.
const firstAttempts, lastAttempts = 16, 48

// note keeps an attempt. A call that went as the one before it becomes part of its
// entry, so that a transaction that tries for a day can still be read, and written;
// otherwise old entries are dropped from the middle.
func note(t *txn.Transaction, a txn.Attempt) {
	if before := repeated(t, &a); before != nil {
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

// repeated finds the entry of the branch's call before, if that went the same way. Calls
// of other branches may have come between; what a person did begins anew, and what was
// dropped may have been anything.
func repeated(t *txn.Transaction, a *txn.Attempt) *txn.Attempt {
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
		case before.Branch == a.Branch && alike(before, a):
			return before
		case before.Branch == a.Branch:
			return nil
		}
	}
	return nil
}

func alike(a, b *txn.Attempt) bool {
	return a.Op == b.Op && a.Target == b.Target && a.Answer == b.Answer && a.Excerpt == b.Excerpt
}
