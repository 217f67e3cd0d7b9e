package redislock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// year is one in ms.
const year = 365 * 86_400_000

// eachExpirable runs a test of semaphores that Java has with leases, with every library.
func eachExpirable(t *testing.T, test func(*testing.T, *testenv.RedisServer, driver.Backend)) {
	t.Helper()
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		test(t, s, open(t, connect(t, single(s)), nil))
	})
}

// permitsOf is a request for n permits of limit.
func permitsOf(name string, n, limit int) driver.Request {
	req := request(name, uuidA+":1")
	req.Mode, req.Permits, req.Limit = driver.Permit, n, limit
	return req
}

// TestNumberThatIsMadeToLast by somebody, who has it live for ever or makes it anew: permits of ours come back as long
// as it is there, those of the living and those of the dead.
func TestNumberThatIsMadeToLast(t *testing.T) {
	for way, last := range map[string][][]any{
		"PERSIST": {{"PERSIST", "a"}}, "trySetPermits": {{"DEL", "a"}, {"SETNX", "a", 0}},
	} {
		t.Run(way, func(t *testing.T) {
			eachPlain(t, func(p *plain) {
				living, dead := p.take(1, 2), p.ask(1, 2)
				dead.TTL = 10 * time.Millisecond
				mustAcquire(p, p.b, dead)
				for _, command := range last {
					p.s.Do(command...)
				}
				p.s.Do("PEXPIRE", "bedrock_permits:{a}", 1500) // the day is nearly over
				if errs := p.b.Renew(ctxFor(p), []driver.Grant{living}); errs[0] != nil {
					p.Fatal(errs)
				}
				if left, _ := p.s.Do("PTTL", "bedrock_permits:{a}").(int64); left < year {
					p.Errorf("what ours have is forgotten in %d ms, and the number is not", left)
				}
				mustRelease(p, p.b, living)
				until(p.T, "the permits to come back", func() bool {
					p.refused(3, 2)
					return p.s.Do("GET", "a") == "2"
				})
				if left := p.s.Do("PTTL", "a"); left != int64(-1) {
					p.Errorf("the number ends in %v ms", left)
				}
			})
		})
	}
}

// TestLeaseBesideANumberThatLasts is renewed beyond the time that was left when somebody had the number live for ever.
func TestLeaseBesideANumberThatLasts(t *testing.T) {
	eachPlain(t, func(p *plain) {
		seen := new(renewals)
		locks, err := redislock.New(connectGoredis(p, single(p.s)), &redislock.Options{
			Semaphores: redislock.RSemaphore, Lock: lock.Options{TTL: 600 * time.Millisecond, Observer: seen},
		})
		if err != nil {
			p.Fatal(err)
		}
		p.Cleanup(func() { _ = locks.Stop(context.WithoutCancel(p.Context())) })
		lease, err := locks.Semaphore("a", 2, nil).Permits(1).Lock(ctxFor(p))
		if err != nil {
			p.Fatal(err)
		}
		p.s.Do("PERSIST", "a")
		p.s.Do("PEXPIRE", "bedrock_permits:{a}", 1000) // the day is nearly over
		seen.goesOn(p.T, lease, 10)
		if err := lease.Unlock(ctxFor(p)); err != nil {
			p.Error(err)
		}
		mustRelease(p, p.b, p.take(1, 2)) // whatever has to come back has come back now
		p.there("nobody has any", "2")
	})
}

// TestPermitsOfASemaphoreThatIsMadeToLast are not forgotten before it, in the layout that Java shares either.
func TestPermitsOfASemaphoreThatIsMadeToLast(t *testing.T) {
	eachExpirable(t, func(t *testing.T, s *testenv.RedisServer, b driver.Backend) {
		g := mustAcquire(t, b, permitsOf("a", 1, 2))
		s.Do("PERSIST", "a")
		if errs := b.Renew(ctxFor(t), []driver.Grant{g}); errs[0] != nil {
			t.Fatal(errs)
		}
		if left, _ := s.Do("PTTL", "{a}:timeout").(int64); left < year {
			t.Errorf("what is taken is forgotten in %d ms, and the number is not", left)
		}
	})
}

// endsSoon has what is kept of a semaphore end soon, as when somebody has had permits and renewed them for a day.
func endsSoon(t *testing.T, s *testenv.RedisServer, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if s.Do("PEXPIRE", key, 5000) != int64(1) {
			t.Fatalf("no key %s", key)
		}
	}
}

// livesOn checks that keys are kept for a day after the use of a semaphore.
func livesOn(t *testing.T, s *testenv.RedisServer, after string, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if left, _ := s.Do("PTTL", key).(int64); left < time.Hour.Milliseconds() {
			t.Errorf("after %s %s is kept for %d ms, want a day", after, key, left)
		}
	}
}

// TestNumberIsForgottenRightAfterItsUse: what Java has of a number that Bedrock has made would be given out again. It
// is forgotten a day after the last use by Bedrock: renewals and releases are that, too.
func TestNumberIsForgottenRightAfterItsUse(t *testing.T) {
	eachPlain(t, func(p *plain) {
		keys := []string{"a", "bedrock_holders:{a}", "bedrock_permits:{a}"}
		ours, others := p.take(1, 3), p.take(1, 3)
		p.s.Do("DECRBY", "a", 1) // Java has the third one
		endsSoon(p.T, p.s, keys...)
		if errs := p.b.Renew(ctxFor(p), []driver.Grant{ours}); errs[0] != nil {
			p.Fatal(errs)
		}
		livesOn(p.T, p.s, "a renewal", keys...)
		endsSoon(p.T, p.s, keys...)
		mustRelease(p, p.b, others)
		livesOn(p.T, p.s, "a release", keys...)
		endsSoon(p.T, p.s, keys...)
		mustRelease(p, p.b, ours)
		livesOn(p.T, p.s, "the last release", keys[:2]...)
		p.refused(3, 3) // Java has one of the three
	})
}

// TestSemaphoreIsForgottenRightAfterItsUse is the same of the layout in which Java's permits have an end.
func TestSemaphoreIsForgottenRightAfterItsUse(t *testing.T) {
	eachExpirable(t, func(t *testing.T, s *testenv.RedisServer, b driver.Backend) {
		keys := []string{"a", "bedrock_holders:{a}", "{a}:timeout"}
		g := mustAcquire(t, b, permitsOf("a", 1, 2))
		endsSoon(t, s, keys...)
		if errs := b.Renew(ctxFor(t), []driver.Grant{g}); errs[0] != nil {
			t.Fatal(errs)
		}
		livesOn(t, s, "a renewal", keys...)
		endsSoon(t, s, keys...)
		mustRelease(t, b, g)
		livesOn(t, s, "a release", keys[:2]...)
	})
}

// TestRenewalProlongsAnotherLock: somebody has deleted the number, and has a lock of that name, which in Java looks at
// nothing else. That one's life is not ours to prolong.
func TestRenewalProlongsAnotherLock(t *testing.T) {
	eachPlain(t, func(p *plain) {
		ours := p.take(1, 2)
		p.s.Do("DEL", "a")
		p.s.Do("HSET", "a", javas, 1)
		p.s.Do("PEXPIRE", "a", 5000)
		if errs := p.b.Renew(ctxFor(p), []driver.Grant{ours}); errs[0] != nil {
			p.Error(errs)
		}
		livesOn(p.T, p.s, "a renewal", "bedrock_permits:{a}")
		if left, _ := p.s.Do("PTTL", "a").(int64); left > 5000 {
			p.Errorf("somebody's lock lives for %d ms", left)
		}
	})
}
