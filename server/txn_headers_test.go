package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/txn"
)

// definition is a saga of one step.
func definition(id, step string) string {
	return `"definition": {"id": "` + id + `", "mode": "saga", "steps": [{"id": "a", "action": "` + step +
		`", "compensate": "undo"}]}`
}

// TestEveryAnswerTellsTheTransaction: whoever gets an error, or an outcome that is no
// success under status 200, needs the ID to find out more.
func TestEveryAnswerTellsTheTransaction(t *testing.T) {
	s := serve(t, config(t), nil)
	for name, tc := range map[string]struct {
		body, outcome string
		status        int
	}{
		"committed":   {`{` + definition("", "echo") + `, "wait": true}`, "committed", 200},
		"rolled back": {`{` + definition("", "refuse") + `, "wait": true}`, "rolled-back", 200},
		"no wait":     {`{` + definition("", "echo") + `}`, "", 200},
		"refused":     {`{` + definition("", "nosuch://x") + `}`, "", 400},
		"given":       {`{` + definition("mine", "echo") + `, "wait": true}`, "committed", 200},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.post(t, transactions+"Submit", tc.body)
			a.want(t, tc.status)
			id := a.header.Values("Bedrock-Transaction-Id")
			if len(id) != 1 || id[0] == "" || tc.status == 200 && a.at("id") != id[0] {
				t.Errorf("ID %q of %s", id, a.body)
			}
			if got := a.header.Get("Bedrock-Outcome"); got != tc.outcome {
				t.Errorf("outcome %q, want %q", got, tc.outcome)
			}
		})
	}
}

// TestParkedIsAWordForTwoThings: it is why, in a result as in a transaction.
func TestParkedIsAWordForTwoThings(t *testing.T) {
	s := serve(t, config(t), nil)
	a := s.post(t, transactions+"Submit", `{"definition": {"id": "p", "mode": "saga", "recovery": "forward", `+
		`"steps": [{"id": "a", "action": "refuse"}]}, "wait": true}`)
	a.want(t, 200, "in-doubt")
	why, _ := a.at("result.parked").(string)
	if !strings.Contains(why, "sold out") || a.header.Get("Bedrock-Outcome") != "parked" {
		t.Errorf("%s %v", a.body, a.header)
	}
	if a := s.post(t, transactions+"Get", `{"id": "p"}`); a.at("transaction.parked") != why {
		t.Error(a.body)
	}
}

// TestAWaitEndsWhenItsCallerWants: with the ID, and the transaction goes on.
func TestAWaitEndsWhenItsCallerWants(t *testing.T) {
	s := serve(t, config(t), nil)
	a := s.post(t, transactions+"Submit", `{`+definition("slow", "later")+`, "wait_for": "0.01s"}`)
	a.want(t, 200, `"slow"`)
	if a.at("result.pending") != true || a.header.Get("Bedrock-Outcome") != "pending" {
		t.Errorf("%s %v", a.body, a.header)
	}
	if a := s.post(t, transactions+"Wait", `{"id": "slow", "wait_for": "0s"}`); a.at("result.pending") != true {
		t.Error(a.body)
	}
	if a := s.post(t, transactions+"Wait", `{"id": "slow", "wait_for": "10ms"}`); a.at("result.pending") != true ||
		a.at("result.reason") != "transaction slow: outcome not known yet: the wait is over" {
		t.Error(a.body) // durations have units here as in definitions
	}
	s.post(t, transactions+"Wait", `{"id": "slow", "wait_for": "-1s"}`).want(t, 400, "wait_for: -1s is negative")
	s.post(t, transactions+"Submit", `{`+definition("", "echo")+`, "wait_for": "-1s"}`).want(t, 400, "wait_for")
	if a := s.post(t, transactions+"Wait", `{"id": "nobody"}`); a.status != 404 ||
		!strings.Contains(a.body, `\"nobody\" is not known`) {
		t.Error(a.body)
	}
}

// deafAfter is a coordinator that accepts a transaction, and then cannot tell what became
// of it.
type deafAfter struct {
	txn.Coordinator
	err error
}

func (d deafAfter) Run(ctx context.Context, def txn.Definition) (txn.Result, error) {
	id, err := d.Submit(ctx, def)
	if err != nil {
		return txn.Result{}, err
	}
	return d.Wait(ctx, id)
}

func (d deafAfter) Wait(_ context.Context, id string) (txn.Result, error) {
	return txn.Result{ID: id, Outcome: txn.InDoubt}, d.err
}

// TestAcceptedIsNotToldAsRefused: who is told that the server is unavailable, or knows no
// such transaction, takes it for not accepted, and submits another one.
func TestAcceptedIsNotToldAsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		err     error
		wait    string
		pending any
	}{
		"stopped after the submit":           {txn.ErrClosed, `"wait_for": "1s"`, true},
		"removed during a short wait":        {txn.ErrNotFound, `"wait_for": "1s"`, nil},
		"removed during a wait for the end":  {txn.ErrNotFound, `"wait": true`, nil},
		"away during a wait with its limits": {txn.ErrUnavailable, `"wait": true, "wait_for": "1s"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t)
			c.Coordinator = deafAfter{c.Coordinator, tc.err}
			a := serve(t, c, nil).post(t, transactions+"Submit", `{`+definition("x", "echo")+`, `+tc.wait+`}`)
			a.want(t, 200)
			if a.at("id") != "x" || a.at("result.outcome") != "in-doubt" || a.at("result.pending") != tc.pending {
				t.Error(a.body)
			}
		})
	}
}
