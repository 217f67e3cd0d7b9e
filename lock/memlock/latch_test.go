package memlock_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestARepeatedSetHasAnAnswerOfItsOwn, and not that of the call which it is a copy of.
func TestARepeatedSetHasAnAnswerOfItsOwn(t *testing.T) {
	b := memlock.NewBackend(nil).(driver.Latches)
	for _, test := range []struct {
		id   string
		want bool
	}{{"first", true}, {"second", false}, {"second", false}, {"first", true}} {
		if set, err := b.SetLatch(t.Context(), "l", test.id, 3); set != test.want || err != nil {
			t.Errorf("%s: set %v, %v", test.id, set, err)
		}
	}
}
