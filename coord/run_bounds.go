package coord

import (
	"fmt"

	"github.com/bedrock-go/bedrock/internal/printable"
	"github.com/bedrock-go/bedrock/txn"
)

const excerptLength = 256

const (
	// noteLength bounds what is kept of an error, in bytes.
	noteLength = 1024
	// shedNote stands for a result that could not be kept.
	shedNote = "result not kept: the store does not take the whole record"
)

// trimResult drops a result that is too large to keep.
func (c *Coordinator) trimResult(a *txn.Answer) {
	if len(a.Result) > c.opts.Result {
		a.Note = fmt.Sprintf("result of %d bytes not kept: at most %d", len(a.Result), c.opts.Result)
		a.Result = nil
	}
}

// boundAnswer keeps what is entered of an answer within limits: results one by one
// (trimResult) and together, because the record must fit into one message to the store, and
// notes, because they become reasons for people, in a column of their own.
func (c *Coordinator) boundAnswer(t *txn.Transaction, a *txn.Answer) {
	if len(a.Result) > 0 && len(a.Result)+resultsOf(t) > c.opts.Results {
		a.Note = fmt.Sprintf("result of %d bytes not kept: those of all branches together have at most %d",
			len(a.Result), c.opts.Results)
		a.Result = nil
	}
	a.Note = printable.Line(a.Note, noteLength)
}

// resultsOf is how many bytes of results are kept.
func resultsOf(t *txn.Transaction) int {
	n := 0
	for i := range t.Progress {
		p := &t.Progress[i]
		n += len(p.Do.Result) + len(p.Confirm.Result) + len(p.Undo.Result) + len(p.Hook.Result)
	}
	return n
}

// excerpt is the printable beginning of a text.
func excerpt(s string) string { return printable.Line(s, excerptLength) }
