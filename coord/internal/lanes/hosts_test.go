package lanes_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

// TestAHostGetsTwiceItsSlots: lanes that are down are kept when others are forgotten, and their
// host is not, so that it has slots twice from then on.
func TestAHostGetsTwiceItsSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := lanes.New(1, 1, shortest, func(string, lanes.Change) {})
		first := all.Get("http://host/a")
		for range 5 {
			all.ReportCall(first, 0, lanes.Down)
		}
		for i := range 5000 {
			all.Get(txn.Target(fmt.Sprintf("http://other-%d/", i))) // targets come and go
		}
		second := all.Get("http://host/b")
		time.Sleep(time.Minute)
		pass, ok := first.Admit(time.Second)
		if !ok {
			t.Fatal("no probe")
		}
		all.ReportCall(first, pass, lanes.Well) // it is up again
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := second.Acquire(ctx); err != nil {
			t.Fatal(err)
		}
		if err := first.Acquire(ctx); err == nil {
			t.Error("two calls to a host that may have one")
		}
	})
}
