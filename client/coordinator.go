package client

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// Submit implements [txn.Coordinator].
func (c *Client) Submit(ctx context.Context, d txn.Definition) (string, error) {
	identify(&d)
	m, err := apiwire.Definition(&d)
	if err != nil {
		return "", err
	}
	_, err = decide(ctx, c, d.ID, c.transactions.Submit, &bedrockv1.SubmitRequest{Definition: m})
	if err != nil {
		return "", modes.ErrorInFields(d.Mode, err)
	}
	return d.ID, nil
}

// Run implements [txn.Coordinator]. It is one request, unless the outcome takes long
// or the connection breaks.
func (c *Client) Run(ctx context.Context, d txn.Definition) (txn.Result, error) {
	identify(&d)
	m, err := apiwire.Definition(&d)
	if err != nil {
		return notAccepted(d.ID, err), err
	}
	req := &bedrockv1.SubmitRequest{Definition: m, WaitFor: durationpb.New(waitTime)}
	res, err := decideAndWait(ctx, c, d.ID, c.transactions.Submit, req)
	if err != nil {
		err = modes.ErrorInFields(d.Mode, err)
		return notAccepted(d.ID, err), err
	}
	result, pending, err := apiwire.ResultOf(res.GetResult())
	if !pending {
		return result, err
	}
	result, err = c.Wait(ctx, d.ID)
	if errors.Is(err, txn.ErrNotFound) {
		// It has ended and was removed, or the server gave up before it knew whether it was
		// written down. Submitted again it could be carried out twice.
		err = &txn.InDoubtError{ID: d.ID, Err: fmt.Errorf("told to be pending, and then: %w", err)}
	}
	return result, err
}

// notAccepted is the result of a submit that failed: nothing has happened, unless the error
// leaves that open.
func notAccepted(id string, err error) txn.Result {
	r := txn.Result{ID: id, Reason: err.Error()}
	if _, ok := errors.AsType[*txn.InDoubtError](err); ok {
		r.Outcome = txn.InDoubt
	}
	return r
}

// Wait implements [txn.Coordinator].
func (c *Client) Wait(ctx context.Context, id string) (txn.Result, error) {
	req := &bedrockv1.WaitRequest{Id: id, WaitFor: durationpb.New(waitTime)}
	for {
		res, _, err := callRepeatedly(ctx, c, withinRound(c, c.transactions.Wait), req)
		if errors.Is(err, errDoubt) || errors.Is(err, txn.ErrUnavailable) || errors.Is(err, txn.ErrClosed) {
			err = &txn.InDoubtError{ID: id, Err: err} // the transaction goes on, wherever its server is
		}
		if err != nil {
			return undecided(id), err
		}
		if result, pending, err := apiwire.ResultOf(res.GetResult()); !pending {
			return result, err
		}
	}
}

// undecided is the result of a wait that has brought none.
func undecided(id string) txn.Result { return txn.Result{ID: id, Outcome: txn.InDoubt} }

// Begin implements [txn.Coordinator].
func (c *Client) Begin(ctx context.Context, d txn.Definition) (string, error) {
	identify(&d)
	m, err := apiwire.Definition(&d)
	if err != nil {
		return "", err
	}
	_, err = decide(ctx, c, d.ID, c.transactions.Begin, &bedrockv1.BeginRequest{Definition: m})
	if err != nil {
		return "", modes.ErrorInFields(d.Mode, err)
	}
	return d.ID, nil
}

// Enlist implements [txn.Coordinator].
func (c *Client) Enlist(ctx context.Context, id string, branches ...txn.Branch) error {
	req := &bedrockv1.EnlistRequest{Id: id, Branches: apiwire.Branches(branches)}
	if _, err := decide(ctx, c, id, c.transactions.Enlist, req); err != nil {
		return modes.ErrorInFields(apiwire.EnlistMode(req), err)
	}
	return nil
}

// Commit implements [txn.Coordinator].
func (c *Client) Commit(ctx context.Context, id string) error {
	_, err := decide(ctx, c, id, c.transactions.Commit, &bedrockv1.CommitRequest{Id: id})
	return err
}

// RollBack implements [txn.Coordinator].
func (c *Client) RollBack(ctx context.Context, id, reason string) error {
	_, err := decide(ctx, c, id, c.transactions.RollBack, &bedrockv1.RollBackRequest{Id: id, Reason: reason})
	return err
}

// identify makes up an ID before anything is sent, so that it can be sent again. IDs
// sort roughly by time, which is kind to indexes.
func identify(d *txn.Definition) {
	if d.ID == "" {
		d.ID = txn.NewID()
	}
}
