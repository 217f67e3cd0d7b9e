package plan

import (
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Late reports whether an undecided transaction is past its deadline.
func Late(t *txn.Transaction, now time.Time) bool {
	return !t.Deadline.IsZero() && !now.Before(t.Deadline)
}

// Until makes sure that a plan is looked at again by the deadline.
func Until(p txn.Plan, deadline time.Time) txn.Plan {
	if !deadline.IsZero() && (p.Next.IsZero() || deadline.Before(p.Next)) {
		p.Next = deadline
	}
	return p
}
