package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/internal/wire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Get implements the service.
func (t *transactions) Get(ctx context.Context, req *bedrockv1.GetRequest) (*bedrockv1.GetResponse, error) {
	if t.inspector == nil {
		return nil, absent("inspection of transactions")
	}
	found, err := t.inspector.Get(ctx, req.GetId())
	if err != nil {
		return nil, t.failed(ctx, "get", err)
	}
	return &bedrockv1.GetResponse{Transaction: wire.Transaction(found)}, nil
}

// List implements the service.
func (t *transactions) List(ctx context.Context, req *bedrockv1.ListRequest) (*bedrockv1.ListResponse, error) {
	if t.inspector == nil {
		return nil, absent("inspection of transactions")
	}
	q, err := queryOf(req)
	if err != nil {
		return nil, t.failed(ctx, "list", err)
	}
	page, err := t.inspector.List(ctx, q)
	if err != nil {
		return nil, t.failed(ctx, "list", err)
	}
	answer := &bedrockv1.ListResponse{Next: wire.Cursor(page.Next)}
	for _, found := range page.Transactions {
		answer.Transactions = append(answer.Transactions, wire.Transaction(found))
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
		FinishedBefore: wire.Time(req.GetFinishedBefore()), Before: wire.CursorOf(req.GetBefore()), Limit: limit,
	}
	for i, word := range req.GetStatus() {
		if !slices.Contains(driver.Statuses(), txn.Status(word)) {
			return q, problem(fmt.Sprintf("status[%d]", i), "%.40q is none%s: want one of %s", word, nearest.Hint(word, statuses()), strings.Join(statuses(), ", "))
		}
		q.Status = append(q.Status, txn.Status(word))
	}
	return q, nil
}

func statuses() []string {
	var words []string
	for _, s := range driver.Statuses() {
		words = append(words, string(s))
	}
	return words
}

// Watch implements the service.
func (t *transactions) Watch(
	ctx context.Context, req *bedrockv1.WatchRequest, stream *connect.ServerStream[bedrockv1.WatchResponse],
) error {
	if t.inspector == nil {
		return absent("inspection of transactions")
	}
	ctx, cancel := untilDrained(ctx)
	defer cancel()
	for found, err := range t.inspector.Watch(ctx, req.GetId()) {
		if err != nil {
			return t.ended(ctx, err)
		}
		message := &bedrockv1.WatchResponse{Transaction: wire.Transaction(found)}
		if err := sendWithin(ctx, t.limits.Slow, func() error { return stream.Send(message) }); err != nil {
			return err
		}
	}
	return ctxError(ctx)
}

// ended translates the end of a stream.
func (t *transactions) ended(ctx context.Context, err error) error {
	if e := ctxError(ctx); e != nil {
		return e
	}
	return t.failed(ctx, "watch", err)
}
