package bedrocktest

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// timeline is what happened, one line each, for the message of an assertion.
type timeline struct {
	start time.Time
	rows  []string
}

func (l *timeline) add(at time.Time, columns ...string) {
	if len(l.rows) == 0 {
		l.start = at
	}
	row := fmt.Sprintf("+%s\t%s", at.Sub(l.start).Round(time.Millisecond), strings.Join(columns, "\t"))
	l.rows = append(l.rows, strings.TrimRight(row, "\t"))
}

// String is the timeline in columns, below a message; nothing when nothing happened.
func (l *timeline) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range l.rows {
		fmt.Fprintf(w, "\n  %s", row)
	}
	_ = w.Flush() // a builder takes everything
	return b.String()
}

// describeTransaction tells how a transaction stands and how it came to that.
func describeTransaction(tx *txn.Transaction) string {
	var rows timeline
	rows.add(tx.Created, "submitted")
	for i := range tx.Attempts {
		a := &tx.Attempts[i]
		answer := a.Answer
		if n := a.Times(); n > 1 {
			answer += fmt.Sprintf(" ×%d", n)
		}
		rows.add(a.At, strings.TrimSpace(a.Branch+" "+a.Op), answer, a.Excerpt)
	}
	return standing(tx) + rows.String()
}

// standing is the status of a transaction with its reason.
func standing(tx *txn.Transaction) string {
	switch {
	case tx.Parked != "":
		return fmt.Sprintf("parked while %s: %s", tx.Status, tx.Parked)
	case tx.Reason != "":
		return fmt.Sprintf("%s: %s", tx.Status, tx.Reason)
	default:
		return string(tx.Status)
	}
}
