package redislock_test

import (
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestNobodyIsSaidToWait: who has given up does not wait, and nobody waits for a
// free lock.
func TestNobodyIsSaidToWait(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		a, b := open(t, connect(t, single(server)), nil), open(t, connect(t, single(server)), nil)
		waiting := func(b driver.Backend) int {
			info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
			if err != nil {
				t.Fatal(err)
			}
			return info.Waiting
		}
		g := mustAcquire(t, a, request("a", uuidA+":1"))
		w, err := b.(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex)
		if err != nil {
			t.Fatal(err)
		}
		if x, y := waiting(a), waiting(b); x != 1 || y != 1 {
			t.Errorf("one waits, told are %d and %d", x, y)
		}
		w.Close()
		if n := waiting(b); n != 0 {
			t.Errorf("given up here, told are %d", n)
		}
		for end := time.Now().Add(900 * time.Millisecond); waiting(a) != 0; {
			if time.Now().After(end) {
				t.Fatal("given up elsewhere, and said to wait all the same")
			}
		}
		if w, err = b.(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex); err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		mustRelease(t, a, g)
		if n := waiting(a); n != 0 {
			t.Errorf("%d are said to wait for a free lock", n)
		}
	})
}
