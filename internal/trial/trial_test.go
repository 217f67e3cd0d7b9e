package trial_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bedrock-go/bedrock/internal/trial"
)

func TestFailuresStayWithTheTrial(t *testing.T) {
	var order []string
	failures := trial.Failures(t, func(t testing.TB) {
		t.Cleanup(func() { order = append(order, "first") })
		t.Cleanup(func() { order = append(order, "second") })
		t.Error(errors.New("a"), "b")
		t.Errorf("%d", 1)
		if !t.Failed() {
			order = append(order, "not failed")
		}
		for _, step := range []string{"c", "d"} {
			t.Fatal(step) // which does not come back
		}
	})
	if want := []string{"a b", "1", "c"}; !slices.Equal(failures, want) {
		t.Errorf("failures %q, want %q", failures, want)
	}
	if want := []string{"second", "first"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

func TestNoFailures(t *testing.T) {
	if failures := trial.Failures(t, func(testing.TB) {}); failures != nil {
		t.Errorf("%q", failures)
	}
}
