package coord

import (
	"fmt"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

const (
	// noteLength bounds what is kept of an error, in bytes.
	noteLength = 1024
	// shedNote stands for a result that could not be kept.
	shedNote = "result not kept: the store does not take the whole record"
)

// bound keeps what is entered of an answer within limits: results one by one (trim)
// and together, because the record must fit into one message to the store, and notes,
// because they become reasons for people, in a column of their own.
func (c *Coordinator) bound(t *txn.Transaction, a *plan.Answer) {
	if len(a.Result) > 0 && len(a.Result)+resultsOf(t) > c.opts.Results {
		a.Note = fmt.Sprintf("result of %d bytes not kept: those of all branches together have at most %d", len(a.Result), c.opts.Results)
		a.Result = nil
	}
	a.Note = printable(a.Note, noteLength)
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

// shed writes a transaction whose record the store refuses for good without what it can
// do without. One that is final is complete without it. Others would go on with
// results missing, so they are left to a person; the run is over. A record that is
// refused even so stays as it was, for whoever claims it next.
func (r *run) shed(refusal error) bool {
	for i := range r.tx.Progress {
		p := &r.tx.Progress[i]
		for _, op := range []*txn.Op{&p.Do, &p.Confirm, &p.Undo, &p.Hook} {
			if len(op.Result) > 0 {
				op.Result, op.Note = nil, shedNote
			}
		}
	}
	if !r.tx.Status.Final() {
		r.tx.Parked = printable("its results are dropped, because the store refuses its record: "+refusal.Error(), noteLength)
	}
	rec := r.snapshot(r.tx.Parked != "")
	if err := r.c.update(r.rec.Version(), rec); err != nil {
		r.c.opts.Logger.Error("transaction cannot be written", "id", r.tx.ID, "err", err)
		return false
	}
	r.saved(rec)
	if r.tx.Parked != "" {
		r.c.parked(r.tx)
	}
	return r.tx.Parked == ""
}
