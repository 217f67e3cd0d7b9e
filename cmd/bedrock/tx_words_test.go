package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// one is an inspector that knows one transaction.
type one struct {
	txn.Inspector
	transaction *txn.Transaction
}

func (o one) Get(context.Context, string) (*txn.Transaction, error) {
	return o.transaction.Clone(), nil
}

// TestOutputsDifferInTheirWords: the API, the command in both forms and the console call an
// operation what its mode does, and one that is parked so.
func TestOutputsDifferInTheirWords(t *testing.T) {
	for _, mode := range modes.All() {
		tx := everyOperation(mode)
		for output, text := range map[string]string{
			"API":     asAPI(t, tx),
			"command": printed(t, func(s *system) error { return s.printTransaction(tx) }),
			"command in JSON": printed(t, func(s *system) error {
				s.output = formatJSON
				return s.printTransaction(tx)
			}),
			"console": inConsole(t, tx),
		} {
			text = strings.ToLower(text)
			for _, phase := range mode.Phases() {
				if word := mode.Op(phase); phase != txn.PhaseCheck && !strings.Contains(text, word) {
					t.Errorf("%s of a %s: no %q in\n%s", output, mode.Name(), word, text)
				}
			}
			if !strings.Contains(text, "parked") || !strings.Contains(text, "out of luck") {
				t.Errorf("%s of a %s: not parked in\n%s", output, mode.Name(), text)
			}
			for _, inner := range []string{`"do"`, `"undo"`, "  do  ", "  undo  ", ">do<", ">undo<"} {
				if strings.Contains(text, inner) {
					t.Errorf("%s of a %s: the engine's word %s in\n%s", output, mode.Name(), inner, text)
				}
			}
		}
	}
}

// everyOperation is a transaction with all the operations of a mode.
func everyOperation(mode txn.Mode) *txn.Transaction {
	tx := &txn.Transaction{Status: txn.RollingBack, Parked: "out of luck", Created: time.Unix(1, 0)}
	tx.ID, tx.Mode = "x-1", mode.Name()
	tx.Branches, tx.Progress = []txn.Branch{{ID: "a"}}, make([]txn.Progress, 1)
	for _, phase := range mode.Phases() {
		switch phase {
		case txn.PhaseDo:
			tx.Branches[0].Do = "stock.one"
		case txn.PhaseConfirm:
			tx.Branches[0].Confirm = "stock.two"
		case txn.PhaseUndo:
			tx.Branches[0].Undo = "stock.three"
		default:
			continue
		}
		*tx.Progress[0].Op(phase) = txn.Op{State: txn.Unsure, Calls: 1}
	}
	return tx
}

// asAPI is what a server answers in JSON.
func asAPI(t *testing.T, tx *txn.Transaction) string {
	t.Helper()
	h, err := server.New(server.Services{Inspector: one{transaction: tx}, Coordinator: none{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/bedrock.v1.TransactionService/Get",
		strings.NewReader(`{"id": "x-1"}`))
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// none is a coordinator that nobody calls.
type none struct{ txn.Coordinator }

// TestOutputsDifferInTheirShape: the command prints the transaction that is in the API's answer.
func TestOutputsDifferInTheirShape(t *testing.T) {
	for _, mode := range modes.All() {
		tx := everyOperation(mode)
		tx.Payload, tx.Headers = []byte(`{"id": 9007199254740993}`), map[string]string{"<tenant>": "a&b"}
		for name, show := range map[string]func(*system) error{
			"show":  func(s *system) error { return s.printTransaction(tx) },
			"watch": func(s *system) error { return s.printChange(&txSeen{}, tx) },
		} {
			var compact bytes.Buffer
			printed := printed(t, func(s *system) error { s.output = formatJSON; return show(s) })
			if err := json.Compact(&compact, []byte(printed)); err != nil {
				t.Fatal(err)
			}
			if api := asAPI(t, tx); api != `{"transaction":`+compact.String()+`}` {
				t.Errorf("API: %s\n%s: %s", api, name, &compact)
			}
		}
	}
}

func inConsole(t *testing.T, tx *txn.Transaction) string {
	t.Helper()
	h, err := console.New(one{transaction: tx}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/transactions/x-1", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}
