package redislock_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestForceByWhoMayNotPublish is refused, and has changed nothing: neither the lock nor its token.
func TestForceByWhoMayNotPublish(t *testing.T) {
	for profile, all := range map[redislock.Profile]map[string]driver.Request{
		redislock.Redisson: annotated(), redislock.Redlock: {"plain": request("plain", uuidA+":1")},
	} {
		each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
			s := testenv.Redis(t, nil)
			opts := &redislock.Options{Profile: profile}
			may := open(t, connect(t, single(s)), opts)
			mayNot := open(t, connect(t, limited(s, "~* +@all")), opts)
			for _, req := range all {
				mustAcquire(t, may, req)
			}
			before := contents(s)
			for name := range all {
				held, err := mayNot.(driver.Forcer).ForceRelease(ctxFor(t), name)
				if !errors.Is(err, driver.ErrRefused) {
					t.Errorf("%q: held %t, %v", name, held, err)
				}
			}
			if diff := cmp.Diff(before, contents(s)); diff != "" {
				t.Errorf("it was refused (-before +after):\n%s", diff)
			}
		})
	}
}

// TestForceOfManyReadersWithoutACounter: the counter is lost, or its time is over while they read on. They can be
// forced out however many they are.
func TestForceOfManyReadersWithoutACounter(t *testing.T) {
	for _, many := range []int{2, 2001} {
		s := testenv.Redis(t, nil)
		b := open(t, connectGoredis(t, single(s)), nil)
		crowd(t, b, driver.Request{Name: "readers", Mode: driver.Shared}, many)
		if s.Do("DEL", "redisson_lock_token:{readers}") != int64(1) {
			t.Fatal("no counter")
		}
		if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "readers"); err != nil || !held {
			t.Errorf("%d readers: held %t, %v", many, held, err)
		}
	}
}
