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
