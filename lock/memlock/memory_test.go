package memlock_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestGrantsThatRanOutAreForgotten: holders that died leave names that nobody may ever
// ask for again.
func TestGrantsThatRanOutAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memlock.NewBackend(nil)
		abandon := func(n int) {
			for i := range n {
				req := driver.Request{
					Name: fmt.Sprint(strings.Repeat("x", 500), i), Owner: "o", TTL: time.Millisecond, Tokens: 1,
				}
				if _, err := b.Acquire(t.Context(), req); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
		}
		checkForgotten(t, "locks that have run out", abandon)
		runtime.KeepAlive(b)
	})
}

// checkForgotten sees to it that many of what is abandoned take no more memory than few.
func checkForgotten(t *testing.T, what string, abandon func(n int)) {
	t.Helper()
	abandon(100)
	before := inUse()
	abandon(20_000)
	if grown := inUse() - before; grown > 2<<20 {
		t.Errorf("%d KiB more after 20,000 %s", grown>>10, what)
	}
}

// inUse is how much memory is in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
