package msg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Prepared is a message that waits for its producer's word.
type Prepared struct {
	co txn.Coordinator
	id string
}

// Prepare makes the message durable without delivering it. The producer then runs
// its local transaction, and submits or cancels. If it does neither, it is asked
// (Check), or, where there is no check, the message is dropped at its timeout.
func (m *Message) Prepare(ctx context.Context, co txn.Coordinator, payload any) (*Prepared, error) {
	d, err := m.Definition(payload)
	if err != nil {
		return nil, err
	}
	id, err := co.Begin(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", d.Name, m.draft.InWords(err))
	}
	return &Prepared{co: co, id: id}, nil
}

// ID identifies the message. A check-back names it as its transaction, so the local
// transaction should write it down; package barrier does.
func (p *Prepared) ID() string { return p.id }

// Submit says that the local transaction was committed: the message is delivered.
func (p *Prepared) Submit(ctx context.Context) error { return p.co.Commit(ctx, p.id) }

// Cancel says that the local transaction was not committed, and never will be.
func (p *Prepared) Cancel(ctx context.Context, reason string) error {
	return p.co.RollBack(ctx, p.id, reason)
}

// Do prepares the message, runs the local transaction and submits the message. It
// returns the message's ID, and nil if the message is going to be delivered; it
// does not wait for the delivery.
//
// When local fails, only its producer knows whether the transaction was committed
// all the same (a commit whose answer was lost), so the message is left to the
// check, and the error is a *txn.InDoubtError that wraps local's. Local says that
// it was certainly not committed by returning txn.Abort: then the message is
// canceled.
func (m *Message) Do(
	ctx context.Context, co txn.Coordinator, payload any, local func(ctx context.Context, id string) error,
) (string, error) {
	if m.draft.Head.Check == nil {
		return "", &txn.InvalidError{Field: "check", Problem: "is missing; a producer that crashes could not be asked"}
	}
	if local == nil {
		return "", &txn.InvalidError{Field: "local", Problem: "is nil"}
	}
	p, err := m.Prepare(ctx, co, payload)
	if err != nil {
		return "", err
	}
	failure := local(ctx, p.id)
	switch {
	case failure == nil:
		return p.id, p.giveWord(ctx, nil)
	case txn.Aborted(failure):
		return p.id, p.giveWord(ctx, failure)
	default:
		return p.id, &txn.InDoubtError{ID: p.id, Err: failure}
	}
}

// giveWord gives the producer's word, even if the caller is not waiting any more. If
// it does not arrive, the check finds out.
func (p *Prepared) giveWord(ctx context.Context, abort error) error {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if abort == nil {
		return p.open(p.Submit(ctx))
	}
	if err := p.Cancel(ctx, abort.Error()); err != nil {
		return errors.Join(abort, p.open(err))
	}
	return abort
}

// open says that the check will decide, unless it has done so already.
func (p *Prepared) open(err error) error {
	if err == nil || errors.Is(err, txn.ErrDecided) {
		return err
	}
	return &txn.InDoubtError{ID: p.id, Err: err}
}
