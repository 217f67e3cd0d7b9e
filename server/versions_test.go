package server_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestATransactionOfAnotherVersionCannotBeSeen: while versions are mixed, one may have a mode that
// this server does not know. It is shown as far as it can be.
func TestATransactionOfAnotherVersionCannotBeSeen(t *testing.T) {
	store := memstore.New(nil)
	co, err := coord.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), &driver.Record{
		ID: "new", Mode: "two-phase", Status: txn.Running, Epoch: 1,
		Spec:  []byte(`{"mode":"two-phase","branches":[{"id":"a","do":"prepare"}]}`),
		State: []byte(`{"progress":[{"do":{"state":"done"}}]}`),
	}); err != nil {
		t.Fatal(err)
	}
	s := serve(t, setup{Services: server.Services{Coordinator: co, Inspector: co}}, nil)
	got := s.post(t, transactions+"Get", `{"id": "new"}`)
	got.want(t, 200, `"two-phase"`)
	got.want(t, 200, `"prepare"`)
}
