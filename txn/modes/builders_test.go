package modes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// TestBuildersSpeakAnotherLanguage: what is wrong in a transaction written in Go is told in the
// words of its mode, as of one in a file.
func TestBuildersSpeakAnotherLanguage(t *testing.T) {
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := co.Register("f", func(context.Context, txn.Call) ([]byte, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := co.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := co.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	begun, err := tcc.Begin(ctx, co, "trip", nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, submit := range map[string]func() error{
		`steps[1].action: no function "g" is registered`: func() error {
			res, err := saga.New("").Step("a", "f", "f").Step("b", "g", "f").Run(ctx, co, nil)
			if res.Reason != err.Error() {
				t.Errorf("the reason is %q", res.Reason)
			}
			return err
		},
		`steps[0].compensate: no function "g" is registered`: func() error {
			_, err := saga.New("").Step("a", "f", "g").Submit(ctx, co, nil)
			return err
		},
		`branches[0].try: no function "g" is registered`: func() error {
			_, err := tcc.New("").Branch("a", "g", "f", "f").Submit(ctx, co, nil)
			return err
		},
		`branches[0].cancel: no function "g" is registered`: func() error {
			_, err := tcc.New("").Branch("a", "f", "f", "g").Run(ctx, co, nil)
			return err
		},
		`enlist a: branches[0].cancel: no function "g" is registered`: func() error {
			return begun.Try(ctx, tcc.Branch{ID: "a", Confirm: "f", Cancel: "g"}, func(context.Context) error {
				t.Error("tried")
				return nil
			})
		},
		`deliver[0].to: no function "g" is registered`: func() error {
			_, err := msg.New("").To("a", "g").Send(ctx, co, nil)
			return err
		},
		`prepare paid: deliver[0].to: no function "g" is registered`: func() error {
			_, err := msg.New("paid").To("a", "g").Check("f", 0, nil).Prepare(ctx, co, nil)
			return err
		},
	} {
		if err := submit(); err == nil || err.Error() != want || !errors.Is(err, txn.ErrInvalid) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
