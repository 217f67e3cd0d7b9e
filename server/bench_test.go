package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
)

// quick is a coordinator that answers at once: what is left is the server.
type quick struct {
	txn.Coordinator
	txn.Inspector

	tx *txn.Transaction
}

func (quick) Submit(_ context.Context, d txn.Definition) (string, error) { return d.ID, nil }

func (q quick) Get(context.Context, string) (*txn.Transaction, error) { return q.tx, nil }

// benchDefinition is a saga as most are, as JSON.
const benchDefinition = `{"definition": {"id": "order-42", "mode": "saga", "name": "order", "timeout": "30s",
	"payload": {"order": 42, "items": ["a", "b"]}, "steps": [
	{"id": "stock", "action": "https://stock.example/deduct", "compensate": "https://stock.example/restore"},
	{"id": "pay", "action": "https://pay.example/charge", "compensate": "https://pay.example/refund",
	"policy": {"timeout": "5s", "attempts": 3, "then": "park"}}]}}`

func benchTransaction() *txn.Transaction {
	now := time.Unix(1, 0)
	tx := &txn.Transaction{Status: txn.Committed, Created: now, Updated: now, Finished: now, Decided: now}
	tx.ID, tx.Mode, tx.Name, tx.Payload = "order-42", "saga", "order", []byte(`{"order":42}`)
	for _, id := range []string{"stock", "pay"} {
		site := "https://" + txn.Target(id) + ".example/"
		tx.Branches = append(tx.Branches, txn.Branch{ID: id, Do: site + "do", Undo: site + "undo"})
		tx.Progress = append(tx.Progress, txn.Progress{
			Do: txn.Op{State: txn.Done, Calls: 1, Result: []byte(`{"id":7}`)},
		})
		tx.Attempts = append(tx.Attempts, txn.Attempt{
			Branch: id, Op: "action", Number: 1, At: now, Took: time.Second, Answer: "done", By: "here",
		})
	}
	tx.Branches[1].After = []string{"stock"}
	return tx
}

// BenchmarkCall measures what a call costs a server, without the network and what is behind it.
func BenchmarkCall(b *testing.B) {
	q := quick{tx: benchTransaction()}
	h, err := server.New(server.Services{Coordinator: q, Inspector: q},
		&server.Options{Limits: &server.Limits{Rate: -1}})
	if err != nil {
		b.Fatal(err)
	}
	submit, err := apiwire.Definition(&q.tx.Definition)
	if err != nil {
		b.Fatal(err)
	}
	for _, call := range []struct{ name, method, kind, body string }{
		{"submit/json", "Submit", "application/json", benchDefinition},
		{"submit/proto", "Submit", "application/proto", binary(b, &bedrockv1.SubmitRequest{Definition: submit})},
		{"get/json", "Get", "application/json", `{"id": "order-42"}`},
		{"get/proto", "Get", "application/proto", binary(b, &bedrockv1.GetRequest{Id: "order-42"})},
	} {
		b.Run(call.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, transactions+call.method, strings.NewReader(call.body))
				r.Header.Set("Content-Type", call.kind)
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(fmt.Sprint(w.Code, w.Body))
				}
			}
		})
	}
}

func binary(b *testing.B, m proto.Message) string {
	b.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	return string(raw)
}
