package redislock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestJavaCountsOtherPermits: how many permits are there is a number that Redisson believes. Whatever Bedrock does,
// it is that of all, less those that are taken.
func TestJavaCountsOtherPermits(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), nil)
		ask := func(owner string, n, limit int) driver.Request {
			req := request("a", uuidA+":"+owner)
			req.Mode, req.Permits, req.Limit = driver.Permit, n, limit
			return req
		}
		there := func(when, want string) {
			t.Helper()
			if got := s.Do("GET", "a"); got != want {
				t.Errorf("%s: %v permits are there, want %s", when, got, want)
			}
		}
		one := mustAcquire(t, b, ask("1", 2, 5))
		there("two of five are taken", "3")
		mustAcquire(t, b, ask("1", 2, 5))
		there("they are asked for again", "3")
		req := ask("1", 2, 5)
		stranger := req.Ungranted()
		stranger.Owner = uuidB + ":9"
		if _, err := b.Release(ctxFor(t), stranger); !errors.Is(err, driver.ErrLost) {
			t.Errorf("a stranger's release: %v", err)
		}
		there("a stranger gives some back", "3")
		two := mustAcquire(t, b, ask("2", 1, 3))
		there("three of three are taken", "0")
		if _, err := b.Acquire(ctxFor(t), ask("3", 1, 2)); !errors.Is(err, driver.ErrHeld) {
			t.Errorf("three of two are taken, and one more: %v", err)
		}
		there("three of two are taken", "-1")
		mustRelease(t, b, one)
		mustRelease(t, b, one)
		there("two came back, twice", "1")
		dying := ask("4", 1, 4)
		dying.TTL = 50 * time.Millisecond
		mustAcquire(t, b, dying)
		there("two of four are taken", "2")
		until(t, "one is over", func() bool {
			g, err := b.Acquire(ctxFor(t), ask("5", 3, 4))
			if err == nil {
				there("its permit is taken by somebody else, with all others", "0")
				mustRelease(t, b, g)
			}
			return err == nil
		})
		mustRelease(t, b, two)
		there("all came back", "4")
	})
}

// TestSemaphoresOfTwoNamesMeet in the set of permits that are taken, or one is the other's set.
func TestSemaphoresOfTwoNamesMeet(t *testing.T) {
	b := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), nil)
	for _, names := range [][2]string{
		{"a", "{a}"}, {"a}b", "{a}b}"}, {"}x", "{}x}"}, {"a", "{a}:timeout"}, {"a{b", "a{b:timeout"},
	} {
		req := request(names[0], uuidA+":1")
		req.Mode, req.Permits, req.Limit = driver.Permit, 1, 1
		g := mustAcquire(t, b, req)
		req.Name, req.Owner = names[1], uuidA+":2"
		if _, err := b.Acquire(ctxFor(t), req); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("beside %q there is %q: %v", names[0], names[1], err)
		}
		mustRelease(t, b, g)
	}
}

// TestPermitsHoldTheServerUp: so many at once are refused before they are asked for.
func TestPermitsHoldTheServerUp(t *testing.T) {
	b := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), nil)
	req := request("a", uuidA+":1")
	req.Mode, req.Permits, req.Limit = driver.Permit, 4096, lock.MaxPermits
	mustRelease(t, b, mustAcquire(t, b, req))
	req.Permits++
	_, err := b.Acquire(ctxFor(t), req)
	wrong, ok := errors.AsType[*lock.InvalidError](err)
	if !ok || wrong.Field != "permits" || !strings.Contains(err.Error(), "4096") {
		t.Errorf("4097 permits: %v", err)
	}
}
