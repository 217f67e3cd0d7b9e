package txn_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bedrock-go/bedrock/internal/scramble"
	"github.com/bedrock-go/bedrock/txn"
)

func TestACloneSharesNothing(t *testing.T) {
	var original, want txn.Definition
	scramble.Fill(&original)
	scramble.Fill(&want)
	c := original.Clone()
	scramble.Over(&original)
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestACloneOfATransactionSharesNothing(t *testing.T) {
	var original, want txn.Transaction
	scramble.Fill(&original)
	scramble.Fill(&want)
	c := original.Clone()
	scramble.Over(&original)
	if diff := cmp.Diff(&want, c, cmpopts.IgnoreUnexported(txn.Transaction{})); diff != "" {
		t.Error(diff)
	}
}

// TestACloneOfNothingIsNothing: an empty payload is another than none.
func TestACloneOfNothingIsNothing(t *testing.T) {
	for _, d := range []txn.Definition{
		{},
		{Branches: []txn.Branch{{Payload: []byte{}}, {}}, Check: &txn.Check{}, Headers: map[string]string{}},
	} {
		if c := d.Clone(); !reflect.DeepEqual(c, d) {
			t.Errorf("%+v became %+v", d, c)
		}
	}
}
