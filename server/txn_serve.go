package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// transactions answers TransactionService.
type transactions struct {
	coordinator txn.Coordinator
	inspector   txn.Inspector
	operator    txn.Operator
	topics      txn.Topics
	limits      *Limits
	ids         *check.Checker
	log         *slog.Logger
}

var _ bedrockv1connect.TransactionServiceHandler = (*transactions)(nil)

func newTransactions(s *Services, o *Options) *transactions {
	t := &transactions{
		coordinator: s.Coordinator, inspector: s.Inspector, topics: s.Topics, limits: o.Limits,
		ids: check.New(check.Limits{}), log: o.Logger,
	}
	if s.Operator != nil {
		t.operator = Audited(s.Operator, o.Logger)
	}
	return t
}

// Submit implements the service.
func (t *transactions) Submit(ctx context.Context, req *bedrockv1.SubmitRequest) (*bedrockv1.SubmitResponse, error) {
	d, err := apiwire.DefinitionOf(req.GetDefinition())
	if err != nil {
		return nil, t.translate(ctx, "submit", err)
	}
	if d.ID == "" { // chosen here, so that every answer can tell it
		d.ID = txn.NewID()
	}
	if t.ids.ID(d.ID) == nil { // whatever else it is may be too long for a header, and names no transaction
		setIDHeader(ctx, d.ID)
	}
	limit, err := t.waitLimit(req.GetWaitFor())
	if err != nil {
		return nil, t.translate(ctx, "submit", err)
	}
	if req.GetWait() || req.GetWaitFor() != nil {
		return t.run(ctx, d, limit)
	}
	id, err := t.coordinator.Submit(ctx, d)
	if err != nil {
		return nil, t.translate(ctx, "submit", modes.ErrorInWords(d.Mode, err))
	}
	return &bedrockv1.SubmitResponse{Id: id}, nil
}

// waitLimit is how long a call waits: as long as it asks for, within the server's limit.
func (t *transactions) waitLimit(asked *durationpb.Duration) (time.Duration, error) {
	switch d := asked.AsDuration(); {
	case asked == nil:
		return t.limits.Wait, nil
	case d < 0:
		return 0, input.Errorf("wait_for", "%v is negative", d)
	default:
		return min(d, t.limits.Wait), nil
	}
}

// longWait is longer than it takes to write a transaction down: no wait must end before that.
const longWait = 10 * time.Second

func (t *transactions) run(
	ctx context.Context, d txn.Definition, most time.Duration,
) (*bedrockv1.SubmitResponse, error) {
	if most < min(t.limits.Wait, longWait) {
		return t.submitAndWait(ctx, d, most)
	}
	waiting, cancel := boundWait(ctx, most)
	defer cancel()
	r, err := t.coordinator.Run(waiting, d)
	result, err := apiwire.Result(idOf(d.ID, r, err), r, err)
	switch {
	case errors.Is(err, txn.ErrNotFound): // no submit fails so: it was accepted
		result = t.acceptedResult(ctx, d.ID, err)
	case err != nil:
		return nil, t.translate(ctx, "submit", modes.ErrorInWords(d.Mode, err))
	default:
		setOutcomeHeader(ctx, result)
	}
	return &bedrockv1.SubmitResponse{Id: result.GetId(), Result: result}, nil
}

func (t *transactions) submitAndWait(
	ctx context.Context, d txn.Definition, most time.Duration,
) (*bedrockv1.SubmitResponse, error) {
	id, err := t.coordinator.Submit(ctx, d)
	if err != nil {
		return nil, t.translate(ctx, "submit", modes.ErrorInWords(d.Mode, err))
	}
	result, err := t.waitOutcome(ctx, id, most)
	if err != nil {
		result = t.acceptedResult(ctx, id, err)
	}
	return &bedrockv1.SubmitResponse{Id: id, Result: result}, nil
}

// acceptedResult is the result of an accepted transaction when the wait for it fails,
// because that error would say that nothing has happened. A transaction that is not there
// any more has ended.
func (t *transactions) acceptedResult(ctx context.Context, id string, err error) *bedrockv1.Result {
	t.log.WarnContext(ctx, "server: wait after a submit", "id", id, "err", err)
	gone := errors.Is(err, txn.ErrNotFound)
	result := &bedrockv1.Result{Id: id, Outcome: string(txn.InDoubt), Pending: !gone}
	if gone {
		result.Reason = "it has ended and was removed before its outcome was seen"
	}
	setOutcomeHeader(ctx, result)
	return result
}

// waitOutcome waits for an outcome.
func (t *transactions) waitOutcome(ctx context.Context, id string, most time.Duration) (*bedrockv1.Result, error) {
	waiting, cancel := boundWait(ctx, most)
	defer cancel()
	r, err := t.coordinator.Wait(waiting, id)
	result, err := apiwire.Result(id, r, err)
	if err == nil {
		setOutcomeHeader(ctx, result)
	}
	return result, err
}

// idOf finds the ID the coordinator has made up.
func idOf(given string, r txn.Result, err error) string {
	if r.ID != "" {
		return r.ID
	}
	if e, ok := errors.AsType[*txn.InDoubtError](err); ok {
		return e.ID
	}
	return given
}

// Wait implements the service.
func (t *transactions) Wait(ctx context.Context, req *bedrockv1.WaitRequest) (*bedrockv1.WaitResponse, error) {
	limit, err := t.waitLimit(req.GetWaitFor())
	if err != nil {
		return nil, t.translate(ctx, "wait", err)
	}
	result, err := t.waitOutcome(ctx, req.GetId(), limit)
	if err != nil {
		return nil, t.translate(ctx, "wait", err)
	}
	return &bedrockv1.WaitResponse{Result: result}, nil
}

// Begin implements the service.
func (t *transactions) Begin(ctx context.Context, req *bedrockv1.BeginRequest) (*bedrockv1.BeginResponse, error) {
	d, err := apiwire.DefinitionOf(req.GetDefinition())
	if err != nil {
		return nil, t.translate(ctx, "begin", err)
	}
	id, err := t.coordinator.Begin(ctx, d)
	if err != nil {
		return nil, t.translate(ctx, "begin", modes.ErrorInWords(d.Mode, err))
	}
	return &bedrockv1.BeginResponse{Id: id}, nil
}

// Enlist implements the service.
func (t *transactions) Enlist(ctx context.Context, req *bedrockv1.EnlistRequest) (*bedrockv1.EnlistResponse, error) {
	branches, err := apiwire.JoiningOf(req)
	if err == nil {
		err = t.coordinator.Enlist(ctx, req.GetId(), branches...)
	}
	if err != nil {
		return nil, t.translate(ctx, "enlist", modes.ErrorInWords(apiwire.EnlistMode(req), err))
	}
	return &bedrockv1.EnlistResponse{}, nil
}

// Commit implements the service.
func (t *transactions) Commit(ctx context.Context, req *bedrockv1.CommitRequest) (*bedrockv1.CommitResponse, error) {
	if err := t.coordinator.Commit(ctx, req.GetId()); err != nil {
		return nil, t.translate(ctx, "commit", err)
	}
	return &bedrockv1.CommitResponse{}, nil
}

// RollBack implements the service.
func (t *transactions) RollBack(
	ctx context.Context, req *bedrockv1.RollBackRequest,
) (*bedrockv1.RollBackResponse, error) {
	if err := t.coordinator.RollBack(ctx, req.GetId(), req.GetReason()); err != nil {
		return nil, t.translate(ctx, "roll back", err)
	}
	return &bedrockv1.RollBackResponse{}, nil
}

// translate translates an error for the client, and logs what the client is not told.
func (t *transactions) translate(ctx context.Context, what string, err error) error {
	return translateError(ctx, t.log, what, err, apiwire.TransactionError(err))
}
