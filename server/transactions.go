package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/internal/wire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
	"github.com/bedrock-go/bedrock/txn"
)

// errInternal is what a client learns of a failure that is none of its business.
var errInternal = errors.New("internal error; the server's log says more")

// transactions answers TransactionService.
type transactions struct {
	coordinator txn.Coordinator
	inspector   txn.Inspector
	operator    txn.Operator
	topics      txn.Topics
	limits      *Limits
	log         *slog.Logger
}

var _ bedrockv1connect.TransactionServiceHandler = (*transactions)(nil)

func newTransactions(c *Config, l *Limits) *transactions {
	t := &transactions{coordinator: c.Coordinator, inspector: c.Inspector, topics: c.Topics, limits: l, log: c.Logger}
	if c.Operator != nil {
		t.operator = Audited(c.Operator, c.Logger)
	}
	return t
}

// Submit implements the service.
func (t *transactions) Submit(ctx context.Context, req *bedrockv1.SubmitRequest) (*bedrockv1.SubmitResponse, error) {
	d, err := wire.DefinitionOf(req.GetDefinition())
	if err != nil {
		return nil, t.failed(ctx, "submit", err)
	}
	if d.ID == "" { // chosen here, so that every answer can tell it
		d.ID = txn.NewID()
	}
	tellID(ctx, d.ID)
	limit, err := t.waitOf(req.GetWaitFor())
	if err != nil {
		return nil, t.failed(ctx, "submit", err)
	}
	if req.GetWait() || req.GetWaitFor() != nil {
		return t.run(ctx, d, limit)
	}
	id, err := t.coordinator.Submit(ctx, d)
	if err != nil {
		return nil, t.failed(ctx, "submit", err)
	}
	return &bedrockv1.SubmitResponse{Id: id}, nil
}

// waitOf is how long a call waits that asks for so long.
func (t *transactions) waitOf(asked *durationpb.Duration) (time.Duration, error) {
	switch d := asked.AsDuration(); {
	case asked == nil:
		return t.limits.Wait, nil
	case d < 0:
		return 0, problem("wait_for", "%v is negative", d)
	default:
		return min(d, t.limits.Wait), nil
	}
}

// longWait is longer than it takes to write a transaction down: no wait must end before that.
const longWait = 10 * time.Second

func (t *transactions) run(ctx context.Context, d txn.Definition, most time.Duration) (*bedrockv1.SubmitResponse, error) {
	if most < min(t.limits.Wait, longWait) {
		return t.submitAndWait(ctx, d, most)
	}
	waiting, cancel := patient(ctx, most)
	defer cancel()
	r, err := t.coordinator.Run(waiting, d)
	result, err := wire.Result(idOf(d.ID, r, err), r, err)
	switch {
	case errors.Is(err, txn.ErrNotFound): // no submit fails so: it was accepted
		result = t.unheard(ctx, d.ID, err)
	case err != nil:
		return nil, t.failed(ctx, "submit", err)
	default:
		tellOutcome(ctx, result)
	}
	return &bedrockv1.SubmitResponse{Id: result.GetId(), Result: result}, nil
}

func (t *transactions) submitAndWait(
	ctx context.Context, d txn.Definition, most time.Duration,
) (*bedrockv1.SubmitResponse, error) {
	id, err := t.coordinator.Submit(ctx, d)
	if err != nil {
		return nil, t.failed(ctx, "submit", err)
	}
	result, err := t.await(ctx, id, most)
	if err != nil {
		result = t.unheard(ctx, id, err)
	}
	return &bedrockv1.SubmitResponse{Id: id, Result: result}, nil
}

// unheard is what is told of an accepted transaction when the wait for it fails: that error
// would say that nothing has happened. One that is not there any more has ended.
func (t *transactions) unheard(ctx context.Context, id string, err error) *bedrockv1.Result {
	t.log.WarnContext(ctx, "server: wait after a submit", "id", id, "err", err)
	gone := errors.Is(err, txn.ErrNotFound)
	result := &bedrockv1.Result{Id: id, Outcome: string(txn.InDoubt), Pending: !gone}
	if gone {
		result.Reason = "it has ended and was removed before its outcome was seen"
	}
	tellOutcome(ctx, result)
	return result
}

// await waits for an outcome.
func (t *transactions) await(ctx context.Context, id string, most time.Duration) (*bedrockv1.Result, error) {
	waiting, cancel := patient(ctx, most)
	defer cancel()
	r, err := t.coordinator.Wait(waiting, id)
	result, err := wire.Result(id, r, err)
	if err == nil {
		tellOutcome(ctx, result)
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
	limit, err := t.waitOf(req.GetWaitFor())
	if err != nil {
		return nil, t.failed(ctx, "wait", err)
	}
	result, err := t.await(ctx, req.GetId(), limit)
	if err != nil {
		return nil, t.failed(ctx, "wait", err)
	}
	return &bedrockv1.WaitResponse{Result: result}, nil
}

// Begin implements the service.
func (t *transactions) Begin(ctx context.Context, req *bedrockv1.BeginRequest) (*bedrockv1.BeginResponse, error) {
	d, err := wire.DefinitionOf(req.GetDefinition())
	if err != nil {
		return nil, t.failed(ctx, "begin", err)
	}
	id, err := t.coordinator.Begin(ctx, d)
	if err != nil {
		return nil, t.failed(ctx, "begin", err)
	}
	return &bedrockv1.BeginResponse{Id: id}, nil
}

// Enlist implements the service.
func (t *transactions) Enlist(ctx context.Context, req *bedrockv1.EnlistRequest) (*bedrockv1.EnlistResponse, error) {
	branches, err := wire.BranchesOf(req.GetBranches())
	if err == nil {
		err = t.coordinator.Enlist(ctx, req.GetId(), branches...)
	}
	if err != nil {
		return nil, t.failed(ctx, "enlist", err)
	}
	return &bedrockv1.EnlistResponse{}, nil
}

// Commit implements the service.
func (t *transactions) Commit(ctx context.Context, req *bedrockv1.CommitRequest) (*bedrockv1.CommitResponse, error) {
	if err := t.coordinator.Commit(ctx, req.GetId()); err != nil {
		return nil, t.failed(ctx, "commit", err)
	}
	return &bedrockv1.CommitResponse{}, nil
}

// RollBack implements the service.
func (t *transactions) RollBack(ctx context.Context, req *bedrockv1.RollBackRequest) (*bedrockv1.RollBackResponse, error) {
	if err := t.coordinator.RollBack(ctx, req.GetId(), req.GetReason()); err != nil {
		return nil, t.failed(ctx, "roll back", err)
	}
	return &bedrockv1.RollBackResponse{}, nil
}

// failed translates an error for the client, and logs what the client is not told.
func (t *transactions) failed(ctx context.Context, what string, err error) error {
	return translated(ctx, t.log, what, err, wire.TransactionError(err))
}

func translated(ctx context.Context, log *slog.Logger, what string, err error, known *connect.Error) error {
	if known != nil {
		return known
	}
	log.ErrorContext(ctx, "server: "+what, "err", err)
	return connect.NewError(connect.CodeInternal, errInternal)
}

// absent answers for what this server does not have.
func absent(what string) error {
	return connect.NewError(connect.CodeUnimplemented, errors.New("this server has no "+what))
}
