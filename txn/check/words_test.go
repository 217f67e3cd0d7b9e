package check_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
)

func TestWordsThatThereAreAreTaken(t *testing.T) {
	if err := check.Statuses(append(driver.Statuses(), txn.Open)); err != nil {
		t.Error(err)
	}
	for _, a := range txn.Actions() {
		if err := check.Action(a); err != nil {
			t.Error(err)
		}
	}
}

func TestReasons(t *testing.T) {
	longest := strings.Repeat("x", txn.MaxReason)
	const empty = "reason: is empty: say why, it is kept"
	for reason, want := range map[string]string{
		"": empty, " \n": empty, "\u0001\u202e": empty, "\xff": "reason: is not UTF-8",
		"the bank has called": "", "the bank\nhas called": "", longest: "",
		longest + "x":                      fmt.Sprintf("reason: %d bytes: at most %d", txn.MaxReason+1, txn.MaxReason),
		strings.Repeat(" ", 4000) + "late": fmt.Sprintf("reason: 4004 bytes: at most %d", txn.MaxReason),
	} {
		err := check.Reason(reason)
		if _, ok := errors.AsType[*input.Error](err); ok != (want != "") || ok && err.Error() != want {
			t.Errorf("%.20q: got %v, want %s", reason, err, want)
		}
	}
}

// TestAWordThatThereIsNoneOf: which may be meant is told, and which there are.
func TestAWordThatThereIsNoneOf(t *testing.T) {
	const (
		statuses = "; want one of open, running, committing, rolling-back, committed, rolled-back, in-doubt"
		actions  = "; want one of retry, park, resume, compensate, abandon, remove"
	)
	for want, err := range map[string]error{
		`status[1]: "rolledback" is not known (did you mean rolled-back?)` + statuses: check.Statuses(
			[]txn.Status{txn.Open, "rolledback"}),
		`status[0]: "kept" is not known` + statuses:                     check.Statuses([]txn.Status{driver.Kept}),
		`status[0]: "" is not known` + statuses:                         check.Statuses([]txn.Status{""}),
		`action: "Resum" is not known (did you mean resume?)` + actions: check.Action("Resum"),
		`action: "explode" is not known` + actions:                      check.Action("explode"),
		`action: "" is not known` + actions:                             check.Action(""),
	} {
		if _, ok := errors.AsType[*input.Error](err); !ok || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
