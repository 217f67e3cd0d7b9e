package client

import (
	"context"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// Get implements [txn.Inspector].
func (c *Client) Get(ctx context.Context, id string) (*txn.Transaction, error) {
	res, err := query(ctx, c, c.transactions.Get, &bedrockv1.GetRequest{Id: id})
	if err != nil {
		return nil, err
	}
	return apiwire.TransactionOf(res.GetTransaction())
}

// List implements [txn.Inspector].
func (c *Client) List(ctx context.Context, q txn.Query) (txn.Page, error) {
	if _, err := txn.PageSize(q.Limit); err != nil {
		return txn.Page{}, err
	}
	req := &bedrockv1.ListRequest{
		Mode: q.Mode, Name: q.Name, Prefix: q.Prefix, Parked: q.Parked,
		FinishedBefore: apiwire.Timestamp(q.FinishedBefore), Before: apiwire.Cursor(q.Before),
		Limit: int32(q.Limit),
	}
	for _, status := range q.Status {
		req.Status = append(req.Status, string(status))
	}
	res, err := query(ctx, c, c.transactions.List, req)
	if err != nil {
		return txn.Page{}, err
	}
	page := txn.Page{Next: apiwire.CursorOf(res.GetNext())}
	for _, m := range res.GetTransactions() {
		t, err := apiwire.TransactionOf(m)
		if err != nil {
			return txn.Page{}, err
		}
		page.Transactions = append(page.Transactions, t)
	}
	return page, nil
}
