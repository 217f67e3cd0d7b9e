package coord_test

import (
	"context"
	"testing"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// BenchmarkSaga drives sagas of two functions on the memory store: what the engine
// itself costs.
func BenchmarkSaga(b *testing.B) {
	c, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		b.Fatal(err)
	}
	done := func(context.Context, txn.Call) ([]byte, error) { return nil, nil }
	for _, name := range []string{"take", "give", "return"} {
		if err := c.Register(name, done); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer c.Stop(context.Background())
	transfer := txn.Definition{Mode: "saga", Name: "transfer", Payload: []byte(`{"amount":30}`), Branches: []txn.Branch{
		{ID: "take", Do: "take", Undo: "return"},
		{ID: "give", After: []string{"take"}, Do: "give"},
	}}
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Run(b.Context(), transfer); err != nil {
				b.Fatal(err)
			}
		}
	})
}
