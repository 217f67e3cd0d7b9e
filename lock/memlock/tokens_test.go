package memlock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestTokensGoBackAfterARestart: a guard that outlives the process would refuse
// everybody. However large the blocks are, tokens must not run ahead of the clock.
func TestTokensGoBackAfterARestart(t *testing.T) {
	for _, block := range []int{1, 64, 1 << 16} {
		synctest.Test(t, func(t *testing.T) {
			highest := busy(t, memlock.NewBackend(nil), block)
			time.Sleep(2 * time.Millisecond)
			if g := granted(t, memlock.NewBackend(nil), 1); g.Token <= highest {
				t.Errorf("blocks of %d: token %d after a restart, %d was given out before", block, g.Token, highest)
			}
		})
	}
}

// busy takes and releases a lock a thousand times, 10 µs apart, and returns the
// highest token it has had.
func busy(t *testing.T, b driver.Backend, block int) (highest uint64) {
	t.Helper()
	for range 1000 {
		g := granted(t, b, block)
		if g.Token <= highest {
			t.Fatalf("token %d after %d", g.Token, highest)
		}
		highest = g.Token + uint64(g.Tokens) - 1
		if _, err := b.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Microsecond)
	}
	return highest
}

func granted(t *testing.T, b driver.Backend, block int) driver.Grant {
	t.Helper()
	g, err := b.Acquire(t.Context(), driver.Request{Name: "a", Owner: "o", TTL: time.Minute, Tokens: block})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
