package input_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/bedrock-go/bedrock/input"
)

func TestAllOfSeveralMistakes(t *testing.T) {
	a, b := &input.Error{Field: "a", Problem: "is wrong"}, &input.Error{Field: "b", Problem: "is missing"}
	for want, err := range map[string]error{
		"[]":                          nil,
		"[a: is wrong]":               fmt.Errorf("submit: %w", a),
		"[a: is wrong b: is missing]": fmt.Errorf("twice: %w", errors.Join(a, io.EOF, fmt.Errorf("x: %w", b))),
	} {
		if got := fmt.Sprint(input.All(err)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSeveralMistakesAreOneError(t *testing.T) {
	a, b := &input.Error{Field: "a", Problem: "is wrong"}, &input.Error{Field: "b", Problem: "is missing"}
	if one := input.Join([]*input.Error{a}); input.Join(nil) != nil || !errors.Is(one, a) || one.Error() != a.Error() {
		t.Error("none and one are not what they are")
	}
	err := input.Join([]*input.Error{a, b})
	if first, ok := errors.AsType[*input.Error](err); !ok || first != a || !errors.Is(err, input.ErrInvalid) {
		t.Errorf("first is %v", first)
	}
	if all := input.All(err); len(all) != 2 || all[1] != b || err.Error() != "a: is wrong; b: is missing" {
		t.Errorf("%v: all are %v", err, all)
	}
}
