package chance_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chance"
)

// loaded always draws the most.
type loaded struct{}

func (loaded) Draw(n time.Duration) time.Duration { return n - 1 }

// TestSourceDecides: whoever brings numbers of its own is asked, and nobody else.
func TestSourceDecides(t *testing.T) {
	if d := chance.Of(loaded{})(time.Second); d != time.Second-1 {
		t.Errorf("drew %s", d)
	}
	seen := make(map[time.Duration]bool)
	for range 100 {
		d := chance.Of(struct{}{})(time.Second)
		if d < 0 || d >= time.Second {
			t.Fatalf("drew %s", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("100 draws gave %d durations", len(seen))
	}
}
