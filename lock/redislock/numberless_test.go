package redislock_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestPermitsWithoutANumberAreHidden: somebody has deleted the number, and those who have permits have them still.
func TestPermitsWithoutANumberAreHidden(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	permit := func(owner string) driver.Request {
		req := inMode("a", owner, driver.Permit)
		req.Permits, req.Limit = 1, 3
		return req
	}
	mustAcquire(t, b, permit(uuidA+":1"))
	mustAcquire(t, b, permit(uuidA+":2"))
	s.Do("DEL", "a")
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
	if err != nil || info.Kind != driver.Semaphore || info.Limit != 3 || len(info.Holders) != 2 ||
		info.Holders[0].Owner != uuidA+":1" {
		t.Errorf("inspected: %+v, %v", info, err)
	}
	if diff := cmp.Diff([]string{"a"}, names(t, b)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "a"); err != nil || !held {
		t.Errorf("force: %t, %v", held, err)
	}
	for _, owner := range []string{uuidB + ":1", uuidB + ":2", uuidB + ":3"} {
		mustAcquire(t, b, permit(owner))
	}
}

// TestSomebodysSetIsTakenForPermits: nothing says that it is a semaphore's.
func TestSomebodysSetIsTakenForPermits(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	s.Do("ZADD", "{a}:timeout", "9000000000000", "0123456789abcdef")
	s.Do("SET", "{b}:timeout", "text")
	s.Do("HSET", "bedrock_holders:{b}", "bedrock:limit", "3")
	for _, name := range []string{"a", "b"} {
		if found := mustInspect(t, b, name); len(found) > 0 {
			t.Errorf("%s: inspected: %+v", name, found)
		}
		if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), name); err != nil || held {
			t.Errorf("%s: force: %t, %v", name, held, err)
		}
	}
	if all := names(t, b); len(all) > 0 {
		t.Errorf("listed: %v", all)
	}
	if s.Do("ZCARD", "{a}:timeout") != int64(1) || s.Do("GET", "{b}:timeout") != "text" {
		t.Error("it was changed")
	}
}
