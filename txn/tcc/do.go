package tcc

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Do runs work inside a transaction: it is committed if work returns nil, and
// canceled if it fails or panics. Do waits until all branches know. The error is
// nil only if the transaction was committed; otherwise it matches both what work
// returned and what became of the transaction, such as *txn.RolledBackError.
func Do(
	ctx context.Context, co txn.Coordinator, name string, work func(ctx context.Context, t *Transaction) error,
	opts *Options,
) (txn.Result, error) {
	if work == nil {
		err := &txn.InvalidError{Field: "work", Problem: "is nil"}
		return notBegun(err), err
	}
	t, err := Begin(ctx, co, name, opts)
	if err != nil {
		return notBegun(err), err
	}
	finished := false
	defer func() {
		if !finished { // a panic; it goes on after this, and nobody could be told of an error
			_ = t.letGo(ctx, errPanic)
		}
	}()
	failure := work(ctx, t)
	finished = true
	if failure == nil {
		err = t.Commit(ctx)
	} else {
		err = t.letGo(ctx, failure)
	}
	return t.outcome(ctx, failure, err)
}

// notBegun is the result of a transaction that has no branches and will get none; it may
// be known all the same.
func notBegun(err error) txn.Result {
	if e, ok := errors.AsType[*txn.InDoubtError](err); ok {
		return txn.Result{ID: e.ID, Outcome: txn.InDoubt, Reason: err.Error()}
	}
	return txn.Result{Reason: err.Error()}
}

var errPanic = errors.New("panic while trying")

// letGo cancels even if the caller is not waiting any more. If it fails, the
// deadline does it.
func (t *Transaction) letGo(ctx context.Context, failure error) error {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return t.Cancel(ctx, failure.Error())
}

// outcome waits for the end. A decision that was not taken down leaves it open
// until the deadline; ErrDecided means that there is one, whatever it is.
func (t *Transaction) outcome(ctx context.Context, failure, undecided error) (txn.Result, error) {
	result := txn.Result{ID: t.id, Outcome: txn.InDoubt}
	var err error
	if undecided == nil || errors.Is(undecided, txn.ErrDecided) {
		result, err = t.Wait(ctx)
	} else {
		err = &txn.InDoubtError{ID: t.id, Err: undecided}
	}
	switch {
	case failure == nil:
		return result, err
	case err == nil: // work decided by itself, and then failed
		return result, failure
	default:
		return result, &workError{work: failure, transaction: err}
	}
}

// workError is why a transaction was not to be committed, and what became of it.
type workError struct{ work, transaction error }

// Error does not repeat the reason of the roll back, which is the work's error.
func (e *workError) Error() string {
	work, transaction := e.work.Error(), e.transaction.Error()
	if strings.Contains(transaction, work) {
		return transaction
	}
	return transaction + "; " + work
}

func (e *workError) Unwrap() []error { return []error{e.work, e.transaction} }
