package coord

import (
	"context"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// startCall starts a call.
func (r *run) startCall(s txn.Step) {
	f := &flight{step: s, target: r.tx.Target(s), life: r.tx.Created, limit: plan.Timeout(r.tx.Policy(s))}
	r.tx.Op(s).InFlight = true
	r.flights = append(r.flights, f)
	if f.target == "" {
		r.removeFlight(f)
		r.applyAnswer(answer{flight: f, Answer: txn.Answer{Kind: txn.AnswerDone}})
		return
	}
	call, err := r.describeCall(s)
	if err != nil {
		r.removeFlight(f)
		r.applyAnswer(answer{flight: f, Answer: txn.Answer{Kind: txn.AnswerRefused, Unasked: true, Note: err.Error()}})
		return
	}
	f.call, f.lane = call, r.c.lanes.Get(f.target)
	r.c.checkLane(f)
	r.c.calling.Add(1)
	go r.performCall(r.phase, f)
}

// describeCall says what a participant is asked.
func (r *run) describeCall(s txn.Step) (txn.Call, error) {
	t := r.tx
	call := txn.Call{
		Transaction: t.ID, Op: r.operationOf(s), Mode: t.Mode,
		Attempt: t.Op(s).Calls + 1, Epoch: t.Epoch, Headers: t.Headers, Payload: t.Payload,
	}
	if !t.Status.Decided() {
		call.Deadline = t.Deadline
	}
	if s.Phase == txn.PhaseCheck {
		return call, nil
	}
	call.Branch = t.Branches[s.Branch].ID
	if s.Phase != txn.PhaseDo {
		call.Result = t.Progress[s.Branch].Do.Result
	}
	payload, err := payloadFor(t, s, r.c.opts.Results)
	call.Payload = payload
	return call, err
}

// operationOf names a step in the mode's words. A hook's name says which operation it is
// asked about: hook:action.
func (r *run) operationOf(s txn.Step) string {
	mode := r.c.modes[r.tx.Mode]
	if s.Phase != txn.PhaseHook {
		return mode.Op(s.Phase)
	}
	p := &r.tx.Progress[s.Branch]
	for _, phase := range []txn.Phase{txn.PhaseUndo, txn.PhaseConfirm} {
		if p.Op(phase).Spent {
			return txn.HookPrefix + mode.Op(phase)
		}
	}
	return txn.HookPrefix + mode.Op(txn.PhaseDo)
}

// performCall makes the call and brings back the answer, even if the function ends its
// goroutine instead of returning.
func (r *run) performCall(ctx context.Context, f *flight) {
	defer r.c.calling.Done()
	a := answer{flight: f, Answer: txn.Answer{Kind: txn.AnswerFailed, Note: "ended without an answer"}}
	defer func() {
		select {
		case r.answers <- a:
		case <-r.gone:
		}
	}()
	r.c.makeCall(ctx, f, &a)
}
