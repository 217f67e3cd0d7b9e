package server

import (
	"context"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
)

// Get implements the service.
func (t *transactions) Get(ctx context.Context, req *bedrockv1.GetRequest) (*bedrockv1.GetResponse, error) {
	if t.inspector == nil {
		return nil, notServed("inspection of transactions")
	}
	found, err := t.inspector.Get(ctx, req.GetId())
	if err != nil {
		return nil, t.translate(ctx, "get", err)
	}
	return &bedrockv1.GetResponse{Transaction: apiwire.Transaction(found)}, nil
}

// List implements the service.
func (t *transactions) List(ctx context.Context, req *bedrockv1.ListRequest) (*bedrockv1.ListResponse, error) {
	if t.inspector == nil {
		return nil, notServed("inspection of transactions")
	}
	q, err := queryOf(req)
	if err != nil {
		return nil, t.translate(ctx, "list", err)
	}
	page, err := t.inspector.List(ctx, q)
	if err != nil {
		return nil, t.translate(ctx, "list", err)
	}
	answer := &bedrockv1.ListResponse{Next: apiwire.Cursor(page.Next)}
	for _, found := range page.Transactions {
		answer.Transactions = append(answer.Transactions, apiwire.Transaction(found))
	}
	return answer, nil
}

func queryOf(req *bedrockv1.ListRequest) (txn.Query, error) {
	limit, err := txn.PageSize(int(req.GetLimit()))
	if err != nil {
		return txn.Query{}, err
	}
	q := txn.Query{
		Mode: req.GetMode(), Name: req.GetName(), Prefix: req.GetPrefix(), Parked: req.GetParked(),
		FinishedBefore: apiwire.Time(req.GetFinishedBefore()), Before: apiwire.CursorOf(req.GetBefore()), Limit: limit,
	}
	for _, word := range req.GetStatus() {
		q.Status = append(q.Status, txn.Status(word))
	}
	return q, check.Statuses(q.Status)
}

// Watch implements the service.
func (t *transactions) Watch(
	ctx context.Context, req *bedrockv1.WatchRequest, stream *connect.ServerStream[bedrockv1.WatchResponse],
) error {
	if t.inspector == nil {
		return notServed("inspection of transactions")
	}
	ctx, cancel := untilDrained(ctx)
	defer cancel()
	for found, err := range t.inspector.Watch(ctx, req.GetId()) {
		if err != nil {
			return t.streamError(ctx, err)
		}
		message := &bedrockv1.WatchResponse{Transaction: apiwire.Transaction(found)}
		if err := sendWithin(ctx, t.limits.Slow, func() error { return stream.Send(message) }); err != nil {
			return err
		}
	}
	return ctxError(ctx)
}

// streamError translates the end of a stream.
func (t *transactions) streamError(ctx context.Context, err error) error {
	if e := ctxError(ctx); e != nil {
		return e
	}
	return t.translate(ctx, "watch", err)
}
