package coord

import (
	"github.com/bedrock-go/bedrock/internal/printable"
	"github.com/bedrock-go/bedrock/txn"
)

// saveWithoutResults drops the results of a transaction whose record the store refuses for
// good, and writes it again. A final transaction is complete without them. Any other would
// go on with results missing, so it is parked for a person, and the run is over. If this
// record is refused as well, the stored one stays as it was, for whoever claims it next.
func (r *run) saveWithoutResults(refusal error) bool {
	for i := range r.tx.Progress {
		p := &r.tx.Progress[i]
		for _, op := range []*txn.Op{&p.Do, &p.Confirm, &p.Undo, &p.Hook} {
			if len(op.Result) > 0 {
				op.Result, op.Note = nil, shedNote
			}
		}
	}
	if !r.tx.Status.Final() {
		r.tx.Parked = printable.Line("its results are dropped, because the store refuses its record: "+refusal.Error(),
			noteLength)
	}
	rec := r.snapshot(r.tx.Parked != "")
	if err := r.c.update(r.c.calls, r.rec.Version(), rec); err != nil {
		r.c.opts.Logger.Error("transaction cannot be written", "id", r.tx.ID, "err", err)
		return false
	}
	r.keepSaved(rec)
	if r.tx.Parked != "" {
		r.c.tellParked(r.tx)
	}
	return r.tx.Parked == ""
}
