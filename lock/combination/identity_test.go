package combination_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
)

// TestNodesThatDoNotSayWhoTheyAre once hold the first lock up: they answer everything else.
func TestNodesThatDoNotSayWhoTheyAre(t *testing.T) {
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a := join(t, nodes, nil)
		for _, l := range a.lines[:2] {
			l.Fail(bedrocktest.Identity, bedrocktest.Fault{Linger: time.Minute})
		}
		began := time.Now()
		mustUnlock(t, mustLock(t, a, "a"))
		wantWithin(t, "the first lock", began, time.Second)
		pass(time.Minute)
	})
}
