package tcc_test

import (
	"context"
	"testing"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// unheard is a coordinator whose answer to Begin is lost.
type unheard struct{ txn.Coordinator }

func (unheard) Begin(context.Context, txn.Definition) (string, error) {
	return "", &txn.InDoubtError{ID: "t", Err: txn.ErrUnavailable}
}

// TestABeginInDoubtIsToldAsNeverAccepted, though the transaction may be there.
func TestABeginInDoubtIsToldAsNeverAccepted(t *testing.T) {
	work := func(context.Context, *tcc.Transaction) error { return nil }
	res, err := tcc.Do(t.Context(), unheard{}, "order", work, nil)
	if err == nil || res.Outcome != txn.InDoubt || res.ID != "t" {
		t.Errorf("%+v %v", res, err)
	}
}
