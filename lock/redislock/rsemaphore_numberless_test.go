package redislock_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// TestForceWithoutANumber: Java has deleted the number while ours have permits. They are permits all the same, which
// keep others out: they are seen, and can be taken away.
func TestForceWithoutANumber(t *testing.T) {
	eachPlain(t, func(p *plain) {
		ours := p.take(2, 3)
		p.s.Do("DEL", "a")
		shown, err := p.b.(driver.Inspector).Inspect(ctxFor(p), "a")
		if err != nil {
			p.Error(err)
		}
		listed, err := p.b.(driver.Inspector).List(ctxFor(p), "", 9)
		if err != nil || len(listed) != 1 {
			p.Errorf("listed as %+v: %v", listed, err)
		}
		for _, info := range append(listed, shown) {
			if info.Limit != 3 || len(info.Holders) != 1 ||
				info.Holders[0].Permits != 2 || info.Holders[0].Owner != ours.Owner {
				p.Errorf("shown as %+v", info)
			}
		}
		held, err := p.b.(driver.Forcer).ForceRelease(ctxFor(p), "a")
		if err != nil || !held || p.s.Do("EXISTS", "a") != int64(0) {
			p.Errorf("by force: held %t, %v; the number is %v", held, err, p.s.Do("GET", "a"))
		}
		g, err := p.b.Acquire(ctxFor(p), p.ask(3, 3))
		if err != nil {
			p.Errorf("after a forced release: %v", err)
		}
		if _, err := p.b.Release(ctxFor(p), ours); !errors.Is(err, driver.ErrLost) {
			p.Errorf("released after that: %v", err)
		}
		mustRelease(p, p.b, g)
		p.there("nobody has any", "3")
	})
}

// TestAskedWithoutANumber: holders of permits are asked also while the number is gone.
func TestAskedWithoutANumber(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), &redislock.Options{Semaphores: redislock.RSemaphore})
	b.(driver.Notifier).Notify(func(driver.Message) {})
	mustRelease(t, b, mustAcquire(t, b, request("listens", uuidA+":1")))
	awaitListeners(t, s, "bedrock_client:"+uuidA[:18], 1)
	mustAcquire(t, b, permitsOf("a", 1, 2))
	s.Do("DEL", "a")
	asks(t, b, "a", 1)
}

// otherKinds returns ways to use a name as something else than a semaphore.
func otherKinds(b driver.Backend, name string) map[string]func(*plain) error {
	acquire := func(req driver.Request) func(p *plain) error {
		req.Name, req.Owner = name, uuidB+":1"
		return func(p *plain) error { _, err := b.Acquire(ctxFor(p), req); return err }
	}
	all := make(map[string]func(*plain) error)
	for kind, req := range annotated() {
		if req.Mode != driver.Permit {
			all[kind] = acquire(req)
		}
	}
	lingers, votes := request(name, ""), request(name, "")
	lingers.Linger, votes.Above = time.Second, 1
	all["one that lingers"], all["a vote"] = acquire(lingers), acquire(votes)
	all["one of several"] = func(p *plain) error {
		_, err := b.(driver.Bundler).AcquireAll(ctxFor(p), requests(uuidB+":1", "free", name))
		return err
	}
	all["a latch"] = func(p *plain) error {
		p.number++
		_, err := b.(driver.Latches).SetLatch(ctxFor(p), name, fmt.Sprint("call ", p.number), 3)
		return err
	}
	return all
}

// TestMutexOverPermits: Java has deleted the number while ours have permits. No lock of another kind is granted beside
// them; nor is their name kept from others when they are over.
func TestMutexOverPermits(t *testing.T) {
	for _, name := range []string{"a", "{a}/b"} {
		eachPlain(t, func(p *plain) {
			for kind, use := range otherKinds(p.b, name) {
				p.s.Do("FLUSHALL")
				req := permitsOf(name, 2, 2)
				ours := mustAcquire(p, p.b, req)
				p.s.Do("DEL", name)
				before := withoutCalls(p.s)
				told, ok := errors.AsType[*driver.KindError](use(p))
				if !ok || told.Found != driver.Semaphore {
					p.Errorf("%s is granted beside permits of %q, or refused as %+v", kind, name, told)
				}
				if diff := cmp.Diff(before, withoutCalls(p.s)); diff != "" {
					p.Errorf("%s was refused (-before +after):\n%s", kind, diff)
				}
				mustRelease(p, p.b, ours)
				req.TTL = time.Millisecond
				mustAcquire(p, p.b, req)
				p.s.Do("DEL", name)
				until(p.T, kind+" to be granted when they are over", func() bool { return use(p) == nil })
			}
		})
	}
}

// TestMutexOfWhoMayNotSeePermits: a user who has no semaphores need not be allowed more than others.
func TestMutexOfWhoMayNotSeePermits(t *testing.T) {
	const keys = "~a ~b ~free ~redisson_lock_token:* ~redisson_unlock_latch:* ~redisson_lock__channel:*"
	eachPlain(t, func(p *plain) {
		to := limited(p.s, keys+" &* +@all")
		b := open(p, connectGoredis(p, to), &redislock.Options{Semaphores: redislock.RSemaphore})
		g := mustAcquire(p, b, request("a", uuidA+":1"))
		if _, err := b.Acquire(ctxFor(p), request("a", uuidB+":1")); !errors.Is(err, driver.ErrHeld) {
			p.Errorf("one that is held: %v", err)
		}
		mustRelease(p, b, g)
		mustAcquireAll(p, b, requests(uuidA+":2", "a", "b"))
	})
}
