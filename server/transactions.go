package server

import (
	"context"
	"errors"
	"log/slog"

	"connectrpc.com/connect"

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
	if req.GetWait() {
		return t.run(ctx, d)
	}
	id, err := t.coordinator.Submit(ctx, d)
	if err != nil {
		return nil, t.failed(ctx, "submit", err)
	}
	return &bedrockv1.SubmitResponse{Id: id}, nil
}

func (t *transactions) run(ctx context.Context, d txn.Definition) (*bedrockv1.SubmitResponse, error) {
	waiting, cancel := patient(ctx, t.limits.Wait)
	defer cancel()
	r, err := t.coordinator.Run(waiting, d)
	result, err := wire.Result(idOf(d.ID, r, err), r, err)
	if err != nil {
		return nil, t.failed(ctx, "submit", err)
	}
	return &bedrockv1.SubmitResponse{Id: result.GetId(), Result: result}, nil
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
	waiting, cancel := patient(ctx, t.limits.Wait)
	defer cancel()
	r, err := t.coordinator.Wait(waiting, req.GetId())
	result, err := wire.Result(req.GetId(), r, err)
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
