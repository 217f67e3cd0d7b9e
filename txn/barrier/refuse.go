package barrier

import (
	"context"

	"github.com/bedrock-go/bedrock/txn"
)

// Refuse remembers that the business has refused a call, after the work was rolled
// back, and returns the answer for the coordinator. Do does this by itself.
//
// A coordinator that was refused takes the branch for untouched and will not take
// it back. So every later delivery of the same call must be refused as well, even
// if the business could do it by then. Only a newer call, with a higher epoch or
// attempt, runs again: then the coordinator wants it, and keeps account of it.
//
// DTM's layout has no room for this; there, a duplicate of a refused call runs
// again, as with DTM.
func (b *Barrier) Refuse(ctx context.Context, call txn.Call, reason error) ([]byte, Verdict, error) {
	if !b.layout.remembers() {
		return nil, Refused, reason
	}
	p := &passage{call: call}
	refusal := b.layout.mark(call)
	own := refusal.cause
	refusal.cause, refusal.result = causeRefused, []byte(reason.Error())
	fresh, err := b.layout.insert(ctx, b.db, refusal)
	for err == nil && !fresh {
		var found mark
		found, err = b.layout.read(ctx, b.db, refusal.key)
		switch {
		case err != nil:
		case found.cause == own: // a concurrent delivery has done it
			var v Verdict
			if v, err = b.repeated(ctx, b.db, found); err == nil {
				return answerUnrun(call, v, found)
			}
		case found.cause != causeRefused:
			return answerUnrun(call, Hanging, found)
		case !refusal.younger(found):
			return nil, Refused, reason
		default:
			fresh, err = b.layout.retake(ctx, b.db, refusal)
		}
	}
	if err != nil {
		return nil, Undecided, p.wrap("remember refusal", err)
	}
	return nil, Refused, reason
}
