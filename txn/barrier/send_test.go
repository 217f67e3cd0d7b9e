package barrier_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// outbound is a coordinator of messages that writes down what it hears.
type outbound struct {
	txn.Coordinator

	heard   []string
	deaf    error           // what Commit and RollBack answer
	onBegin func(id string) // what happens before the local transaction
}

func (o *outbound) Begin(_ context.Context, d txn.Definition) (string, error) {
	o.heard = append(o.heard, "begin")
	if d.ID == "refuse" {
		return "", txn.ErrUnavailable
	}
	if o.onBegin != nil {
		o.onBegin(d.ID)
	}
	return d.ID, nil
}

func (o *outbound) Commit(ctx context.Context, _ string) error {
	o.heard = append(o.heard, "commit")
	return errors.Join(o.deaf, ctx.Err())
}

func (o *outbound) RollBack(ctx context.Context, _, _ string) error {
	o.heard = append(o.heard, "roll back")
	return errors.Join(o.deaf, ctx.Err())
}

func testSend(t *testing.T, e *engine) {
	a := e.account(t)
	boom := errors.New("boom")
	pay := func(ctx context.Context, tx *sql.Tx) error {
		_, err := a.add(1, "")(ctx, tx)
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, tt := range []struct {
		name  string
		co    outbound
		work  func(ctx context.Context, tx *sql.Tx) error
		want  error
		heard []string
		paid  int
	}{
		{name: "fine", work: pay, heard: []string{"begin", "commit"}, paid: 1},
		{name: "fine", work: pay, heard: []string{"begin", "commit"}}, // again, under the same ID
		{name: "unheard", co: outbound{deaf: txn.ErrUnavailable}, work: pay, heard: []string{"begin", "commit"}, paid: 1},
		{
			name: "somebody rolled it back", co: outbound{deaf: txn.ErrDecided}, work: pay,
			want: txn.ErrDecided, heard: []string{"begin", "commit"}, paid: 1,
		},
		{name: "refuse", work: pay, want: txn.ErrUnavailable, heard: []string{"begin"}},
		{
			name: "work fails", want: boom, heard: []string{"begin", "roll back"},
			work: func(ctx context.Context, tx *sql.Tx) error { return errors.Join(pay(ctx, tx), boom) },
		},
		{
			name: "asked too early", work: pay, want: barrier.ErrRolledBack, heard: []string{"begin"},
			co: outbound{onBegin: func(id string) { e.check(t, id) }},
		},
		{
			name: "context ends", want: context.Canceled, heard: []string{"begin", "roll back"},
			work: func(ctx context.Context, tx *sql.Tx) error {
				err := pay(ctx, tx)
				cancel() // so the commit fails, and nobody knows how far it came
				return err
			},
		},
	} {
		before := e.balance(t, a)
		d := txn.Definition{ID: id(t, tt.name), Mode: "msg", Check: &txn.Check{Target: "check"}}
		if tt.name == "refuse" {
			d.ID = tt.name
		}
		_, err := e.b.Send(ctx, &tt.co, d, tt.work)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v; want %v", tt.name, err, tt.want)
		}
		if diff := cmp.Diff(tt.heard, tt.co.heard); diff != "" {
			t.Errorf("%s: coordinator (-want +heard):\n%s", tt.name, diff)
		}
		if paid := e.balance(t, a) - before; paid != tt.paid {
			t.Errorf("%s: paid %d, want %d", tt.name, paid, tt.paid)
		}
		committed := slices.Contains([]string{"fine", "unheard", "somebody rolled it back"}, tt.name)
		if refused := e.check(t, d.ID); refused == committed {
			t.Errorf("%s: check refused: %v", tt.name, refused)
		}
	}
	var field *txn.FieldError
	if _, err := e.b.Send(t.Context(), &outbound{}, txn.Definition{ID: "x", Mode: "msg"}, pay); !errors.As(err, &field) {
		t.Errorf("message without check: %v", err)
	}
}
