package mysql_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
)

// TestResultsTogetherAreTooLarge for one packet, each of them within its limit: nothing
// was written any more, and the calls were made again and again.
func TestResultsTogetherAreTooLarge(t *testing.T) {
	c, err := coord.New(subject(start(t)).Store(t, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("x"), 64<<10)
	if err := c.Register("big", func(context.Context, txn.Call) ([]byte, error) { return big, nil }); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer func() { _ = c.Stop(ctx) }()
	d := txn.Definition{Mode: "saga", Parallel: 16}
	for i := range 250 {
		d.Branches = append(d.Branches, txn.Branch{ID: fmt.Sprint("b", i), Do: "big"})
	}
	if res, err := c.Run(ctx, d); res.Outcome != txn.Committed {
		t.Errorf("%q, %v", res.Outcome, err)
	}
}
