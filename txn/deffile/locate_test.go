package deffile_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/deffile"
)

const located = `mode: saga
steps:
  - id: stock
    action: stock.deduct
  - id: ship
    steps:
      - id: pack
        action: ship.pack
      - id: label
        action: ship.label
        policy:
          attempts: 1
          then: hook
          hook: ops.ask
headers:
  x: y
`

// TestWhatACoordinatorRefusesIsFound in the file: by its line, and in the file's own words.
func TestWhatACoordinatorRefusesIsFound(t *testing.T) {
	f, err := deffile.Read("order.yaml", []byte(located))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"branches[0].do":          "order.yaml:4: steps[0].action: no",
		"branches[0].undo":        "order.yaml:3: steps[0].compensate: no",
		"branches[1].do":          "order.yaml:8: steps[1].steps[0].action: no",
		"branches[1].id":          "order.yaml:7: steps[1].steps[0].id: no",
		"branches[1].policy.hook": "order.yaml:7: steps[1].steps[0].policy.hook: no",
		"branches[2].policy.hook": "order.yaml:14: steps[1].steps[1].policy.hook: no",
		"branches[2].policy.then": "order.yaml:13: steps[1].steps[1].policy.then: no",
		"branches[2]":             "order.yaml:9: steps[1].steps[1]: no",
		"branches[3].do":          "order.yaml:3: steps[3].action: no",
		"branches":                "order.yaml:3: steps: no",
		`headers["x"]`:            `order.yaml:16: headers["x"]: no`,
		"timeout":                 "order.yaml:1: timeout: no",
		"id":                      "order.yaml:1: id: no",
	} {
		err := f.Locate(&txn.InvalidError{Field: field, Problem: "no"})
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
		wrong, ok := errors.AsType[*input.Error](err)
		if !ok || wrong.Problem != "no" || !errors.Is(err, txn.ErrInvalid) {
			t.Errorf("%s: %v is not the one error for wrong input", field, err)
		}
	}
}

// TestWhatIsNoMistakeIsNotLocated: a doubt is one whatever else was said, and what is told of
// the server has no line.
func TestWhatIsNoMistakeIsNotLocated(t *testing.T) {
	f, err := deffile.Read("order.yaml", []byte(located))
	if err != nil {
		t.Fatal(err)
	}
	wrong := &txn.InvalidError{Field: "branches[0].do", Problem: "no"}
	for _, err := range []error{
		nil, txn.ErrUnavailable, &txn.InDoubtError{ID: "x", Err: wrong},
	} {
		if got := f.Locate(err); got != err { //nolint:errorlint // it is to be the same
			t.Errorf("%v became %v", err, got)
		}
	}
	several := f.Locate(fmt.Errorf("submit: %w", input.Join([]*input.Error{
		{Field: "branches[2].do", Problem: "no"}, wrong,
	})))
	want := "order.yaml:4: steps[0].action: no\norder.yaml:10: steps[1].steps[1].action: no"
	if several.Error() != want {
		t.Errorf("got  %s\nwant %s", several, want)
	}
}

// TestStepsOfOneIDAreToldApart: a mistake in the first was told with the line of the second, where
// nothing is wrong with that field.
func TestStepsOfOneIDAreToldApart(t *testing.T) {
	f, err := deffile.Read("order.yaml", []byte(`mode: saga
steps:
  - id: ship
    steps:
      - {id: pack, action: ship.pack}
  - id: pay
    action: "not a target"
  - id: pay
    action: pay.again
`))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"branches[0].do": "order.yaml:5: steps[0].steps[0].action: no",
		"branches[1].do": "order.yaml:7: steps[1].action: no",
		"branches[2].do": "order.yaml:9: steps[2].action: no",
		"branches[2].id": "order.yaml:8: steps[2].id: no",
	} {
		if err := f.Locate(&txn.InvalidError{Field: field, Problem: "no"}); err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
