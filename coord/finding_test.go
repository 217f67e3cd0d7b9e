package coord

import (
	"testing"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

// TestACallThatWasNotMadeClosesNoBreaker: where nobody was asked nothing is known of a
// target, least of all that it is well.
func TestACallThatWasNotMadeClosesNoBreaker(t *testing.T) {
	for want, answers := range map[lanes.Finding][]txn.Answer{
		lanes.Nothing: {notCalledAnswer(), {Kind: txn.AnswerHeld}},
		lanes.Down:    {heldAnswer(), {Kind: txn.AnswerFailed, Down: true}, {Kind: txn.AnswerUnreached, Down: true}},
		lanes.Failing: {{Kind: txn.AnswerFailed}, {Kind: txn.AnswerUnreached}},
		lanes.Well:    {{Kind: txn.AnswerDone}, {Kind: txn.AnswerRefused}, {Kind: txn.AnswerPending}},
	} {
		for _, a := range answers {
			if got := findingOf(a); got != want {
				t.Errorf("%+v is judged %d, want %d", a, got, want)
			}
		}
	}
}
