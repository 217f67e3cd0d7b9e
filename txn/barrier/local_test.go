package barrier_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

func testLocal(t *testing.T, e *engine) {
	a := e.account(t)
	boom := errors.New("boom")
	pay := func(ctx context.Context, tx *sql.Tx) error {
		_, err := a.add(1, "")(ctx, tx)
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	e.check(t, id(t, "asked too early"))
	for _, tt := range []struct {
		name string
		work func(ctx context.Context, tx *sql.Tx) error
		want error
		paid int
	}{
		{name: "fine", work: pay, paid: 1},
		{name: "fine", work: pay}, // again, under the same ID
		{name: "asked too early", work: pay, want: barrier.ErrRolledBack},
		{
			name: "fails", want: boom,
			work: func(ctx context.Context, tx *sql.Tx) error { return errors.Join(pay(ctx, tx), boom) },
		},
		{
			name: "refuses", want: boom,
			work: func(ctx context.Context, tx *sql.Tx) error { _ = pay(ctx, tx); return txn.Abort(boom) },
		},
		{name: "another one's error", work: func(ctx context.Context, tx *sql.Tx) error {
			return errors.Join(pay(ctx, tx), e.b.Prepare(ctx, tx, id(t, "fine")))
		}, want: barrier.ErrPrepared},
		{
			name: "context ends", want: context.Canceled,
			work: func(ctx context.Context, tx *sql.Tx) error { defer cancel(); return pay(ctx, tx) },
		},
		{name: "fine", work: pay}, // again, though it cannot be begun: an earlier one was committed
	} {
		before := e.balance(t, a)
		message := id(t, tt.name)
		err := e.b.Local(tt.work)(ctx, message)
		if !errors.Is(err, tt.want) || txn.Aborted(err) != (tt.want != nil) {
			t.Errorf("%s: %v; want %v", tt.name, err, tt.want)
		}
		if paid := e.balance(t, a) - before; paid != tt.paid {
			t.Errorf("%s: paid %d, want %d", tt.name, paid, tt.paid)
		}
		if refused := e.check(t, message); refused != (tt.want != nil) {
			t.Errorf("%s: check refused: %v", tt.name, refused)
		}
	}
	before, retried := e.balance(t, a), id(t, "retried")
	if err := e.b.Local(func(context.Context, *sql.Tx) error { return boom })(t.Context(), retried); !txn.Aborted(err) {
		t.Errorf("fails: %v", err)
	}
	if err := e.b.Local(pay)(t.Context(), retried); !txn.Aborted(err) || e.balance(t, a) != before {
		t.Errorf("committed although its message is canceled: %v, paid %d", err, e.balance(t, a)-before)
	}
	if e.crash == nil {
		return
	}
	err := e.b.Local(func(ctx context.Context, tx *sql.Tx) error {
		defer e.crash(t)
		return pay(ctx, tx)
	})(t.Context(), id(t, "crash"))
	if err == nil || e.balance(t, a) != before {
		t.Errorf("database died before the commit: %v, paid %d", err, e.balance(t, a)-before)
	}
	if !e.check(t, id(t, "crash")) {
		t.Error("database died before the commit: check was not refused")
	}
}
