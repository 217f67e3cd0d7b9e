package coord

import (
	"testing"

	"github.com/bedrock-go/bedrock/txn/plan"
)

// TestACallThatWasNotMadeClosesNoBreaker: where nobody was asked nothing is known of a
// target, least of all that it is well.
func TestACallThatWasNotMadeClosesNoBreaker(t *testing.T) {
	for want, answers := range map[verdict][]plan.Answer{
		nothing: {notCalled(), {Kind: plan.Held}},
		down:    {held(), {Kind: plan.Failed, Down: true}, {Kind: plan.Unreached, Down: true}},
		failing: {{Kind: plan.Failed}, {Kind: plan.Unreached}},
		well:    {{Kind: plan.Done}, {Kind: plan.Refused}, {Kind: plan.Pending}},
	} {
		for _, a := range answers {
			if got := judge(a); got != want {
				t.Errorf("%+v is judged %d, want %d", a, got, want)
			}
		}
	}
}
