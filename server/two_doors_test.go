package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/deffile"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// samples are files, with every word there is.
func samples(t *testing.T) map[string]string {
	t.Helper()
	example, err := os.ReadFile("../examples/order.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"example": string(example),
		"saga": `{mode: saga, id: order-1, name: order, timeout: 1m30s, parallel: 2, headers: {tenant: seven},
			recovery: backward,
			payload: {order: 42, big: 9007199254740993}, steps: [
			{id: a, action: x.a, compensate: x.b, payload: "text"}, {id: b, action: x.c, use: {id: a.id}, payload: {}},
			{id: c, action: x.d, after: [],
			policy: {timeout: 5s, backoff: 1s, maxBackoff: 1m, attempts: 3, then: hook, hook: x.h}},
			{id: in, after: a, steps: [{id: one, action: y}, {id: two, action: z}]},
			{id: d, action: x.e, after: [a, b, in]}]}`,
		"saga of bytes": `{mode: saga, payloadBytes: AAEC/w==, steps: [{id: a, action: f, payloadBytes: AA==}]}`,
		"tcc": `{mode: tcc, branches: [{id: a, try: t, confirm: c, cancel: x},
			{id: b, do: d, compensate: e, after: [a]},
			{id: c, assured: "https://mail/send"}, {id: n, branches: [{id: m, try: t, confirm: c, cancel: x}]}]}`,
		"message": `{mode: msg, delay: 10s, check: {target: x.check, after: 30s, policy: {attempts: 2, then: park}},
			payload: null, deliver: [{id: a, to: "https://mail/send", payload: 7}, {id: b, topic: orders}]}`,
	}
}

// TestBothDoorsTakeTheSame: what people submit as a file, they may send as JSON.
func TestBothDoorsTakeTheSame(t *testing.T) {
	var got txn.Definition
	h, err := server.New(
		server.Services{Coordinator: keeper{got: &got}}, &server.Options{Limits: &server.Limits{Rate: -1}},
	)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for name, file := range samples(t) {
		want, err := deffile.Parse(name, []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		seen[want.Mode] = true
		got = txn.Definition{}
		body := strings.NewReader(`{"definition": ` + asJSON(t, file) + `}`)
		r := httptest.NewRequest(http.MethodPost, transactions+"Submit", body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %s", name, w.Body)
		}
		if want.ID == "" {
			got.ID = ""
		}
		if diff := cmp.Diff(want, got, payloads()); diff != "" {
			t.Errorf("%s (-file +JSON):\n%s", name, diff)
		}
	}
	if len(seen) != len(modes.Names()) {
		t.Errorf("samples of %v; there are %v", seen, modes.Names())
	}
}

// TestWhatJoinsIsReadInOtherWords than what is there from the beginning.
func TestWhatJoinsIsReadInOtherWords(t *testing.T) {
	var got []txn.Branch
	h, err := server.New(
		server.Services{Coordinator: joiner{got: &got}}, &server.Options{Limits: &server.Limits{Rate: -1}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"branches": `{mode: tcc, id: x, branches: [
			{id: a, try: t, confirm: c, cancel: x, payload: {n: 9007199254740993}},
			{id: b, do: d, compensate: e, after: a, use: {x: a.y}, policy: {timeout: 1m30s}},
			{id: c, assured: "https://mail/send"}, {id: n, branches: [{id: m, try: t, confirm: c, cancel: x}]}]}`,
		"deliver": `{mode: msg, id: x, deliver: [{id: a, to: f, payloadBytes: AAEC/w==}, {id: b, topic: orders}]}`,
	} {
		want, err := deffile.Read(name, []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		parts := strings.Replace(asJSON(t, file), `,"mode":"`+want.Definition.Mode+`"`, "", 1)
		r := httptest.NewRequest(http.MethodPost, transactions+"Enlist", strings.NewReader(parts))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %s", parts, w.Body)
		}
		if diff := cmp.Diff(want.Definition.Branches, got, payloads()); diff != "" {
			t.Errorf("%s (-file +JSON):\n%s", name, diff)
		}
	}
}

// joiner is a coordinator that keeps what joins.
type joiner struct {
	txn.Coordinator
	got *[]txn.Branch
}

func (j joiner) Enlist(_ context.Context, id string, branches ...txn.Branch) error {
	if id != "x" {
		return txn.ErrNotFound
	}
	*j.got = branches
	return nil
}

// payloads compares payloads by what they say.
func payloads() cmp.Option {
	return cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(sorted(a), sorted(b)) })
}

// asJSON writes a file as another program would.
func asJSON(t *testing.T, file string) string {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(file), &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sorted is JSON with its fields in order, and anything else as it is.
func sorted(payload []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return payload
	}
	text, _ := json.Marshal(v) // it was JSON
	return text
}

// TestTheNearestFieldIsNamed: whoever has mistyped one is told which is meant.
func TestTheNearestFieldIsNamed(t *testing.T) {
	s := serve(t, config(t), nil)
	for body, want := range map[string]string{
		`Submit {"definition": {"mode": "saga", "stepz": []}}`:                   "did you mean steps?",
		`Submit {"definition": {"mode": "saga", "steps": [{"acton": "x"}]}}`:     "did you mean action?",
		`Submit {"definition": {"mode": "sga", "steps": []}}`:                    "did you mean saga?",
		`Submit {"definitoin": {}}`:                                              "did you mean definition?",
		`List {"parkd": true}`:                                                   "did you mean parked?",
		`Enlist {"id": "x", "branches": [{"id": "a", "confirmm": "x"}]}`:         "did you mean confirm?",
		`Begin {"definition": {"mode": "msg", "delivr": []}}`:                    "did you mean deliver?",
		`Submit {"definition": {"mode": "saga"}, "definition": {"mode": "tcc"}}`: "definition: is there twice",
		`Submit {"definition": null}`:                                            `definition: is missing`,
	} {
		method, body, _ := strings.Cut(body, " ")
		s.post(t, transactions+method, body).want(t, 400, want)
	}
}
