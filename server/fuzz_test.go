package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
)

// keeper is a coordinator that keeps what is submitted.
type keeper struct {
	txn.Coordinator
	got *txn.Definition
}

func (k keeper) Submit(_ context.Context, d txn.Definition) (string, error) {
	*k.got = d
	return d.ID, nil
}

// FuzzSubmitJSON: whatever is sent is refused or taken as it is: a payload that
// arrives is the JSON that was sent.
func FuzzSubmitJSON(f *testing.F) {
	var got txn.Definition
	h, err := server.New(server.Services{Coordinator: keeper{got: &got}},
		&server.Options{Limits: &server.Limits{Rate: -1}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		`{"definition": {"mode": "saga", "payload": {"n": 9007199254740993}}}`,
		`{"definition": {"payload": null, "steps": [{"payload": [1]}, {}]}}`,
		`{"definition": {"payload": "\ud800"}}`, `{"definition": null}`, `[]`, `{"definition": {"steps": [null]}}`,
		`{"definition": {"payloadBytes": "AA=="}}`,
		`{"definition": {"headers": {"payload": "x"}, "steps": [{"use": {"payload": "a.b"}}]}}`,
		"{\"definition\":{\"payload\":\"\xff\"}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got = txn.Definition{}
		r := httptest.NewRequest(http.MethodPost, transactions+"Submit", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		if w.Code != http.StatusOK {
			return
		}
		var sent struct {
			Definition struct {
				Payload json.RawMessage `json:"payload"`
			} `json:"definition"`
		}
		if err := json.Unmarshal([]byte(body), &sent); err != nil {
			t.Fatalf("taken, although it is not JSON: %v", err)
		}
		if sent.Definition.Payload != nil && !sameJSON(sent.Definition.Payload, got.Payload) {
			t.Errorf("sent %s, taken as %s", sent.Definition.Payload, got.Payload)
		}
	})
}

func sameJSON(a, b []byte) bool {
	var x, y json.RawMessage
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil &&
		strings.Join(strings.Fields(string(x)), "") == strings.Join(strings.Fields(string(y)), "")
}
