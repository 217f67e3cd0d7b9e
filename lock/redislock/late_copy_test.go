package redislock_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestLateCopyIsNotGivenBack: a request was granted and released, and then a copy of it comes that was late, which is
// granted again. One more release gives it back, although there has been one, whose latch says so.
func TestLateCopyIsNotGivenBack(t *testing.T) {
	b := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), nil)
	for _, mode := range []driver.Mode{driver.Exclusive, driver.Write, driver.Shared, driver.Permit} {
		req := request("late "+mode.String(), uuidA+":1")
		if req.Mode = mode; mode == driver.Permit {
			req.Permits, req.Limit = 1, 1
		}
		g := mustAcquire(t, b, req)
		mustRelease(t, b, g)
		mustAcquire(t, b, req)
		mustRelease(t, b, g)
		other := req
		if other.Owner = uuidB + ":1"; mode == driver.Shared {
			other.Mode = driver.Write
		}
		mustRelease(t, b, mustAcquire(t, b, other))
		mustRelease(t, b, g) // once more, as one whose answer was lost is repeated
	}
}

// TestLateCopyComesAfterTheDowngrade: the one who has written reads by now, and a copy of its request is granted as
// what it has. It claims no turn for a writer, which would keep readers off.
func TestLateCopyComesAfterTheDowngrade(t *testing.T) {
	b := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), nil)
	req := request("a", uuidA+":1")
	req.Mode, req.Waits = driver.Write, true
	g := mustAcquire(t, b, req)
	if err := b.(driver.Downgrader).Downgrade(ctxFor(t), g); err != nil {
		t.Fatal(err)
	}
	if again := mustAcquire(t, b, req); again.Token != g.Token {
		t.Errorf("the copy has token %d, the grant %d", again.Token, g.Token)
	}
	reader := request("a", uuidB+":1")
	reader.Mode = driver.Shared
	beside := mustAcquire(t, b, reader)
	mustRelease(t, b, g)
	mustRelease(t, b, beside)
	writer := request("a", uuidB+":2")
	writer.Mode = driver.Write
	mustRelease(t, b, mustAcquire(t, b, writer))
}
