package redislock_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// plain is an RSemaphore on a server, as clients of Bedrock have it.
type plain struct {
	*testing.T
	s      *testenv.RedisServer
	b      driver.Backend
	number int
}

// eachPlain runs a test with every library.
func eachPlain(t *testing.T, test func(*plain)) {
	t.Helper()
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), &redislock.Options{Semaphores: redislock.RSemaphore})
		test(&plain{T: t, s: s, b: b})
	})
}

// ask returns a request of another owner, for n permits of limit.
func (p *plain) ask(n, limit int) driver.Request {
	p.number++
	req := request("a", fmt.Sprint(uuidA, ":", p.number))
	req.Mode, req.Permits, req.Limit = driver.Permit, n, limit
	return req
}

// take has permits.
func (p *plain) take(n, limit int) driver.Grant {
	p.Helper()
	return mustAcquire(p, p.b, p.ask(n, limit))
}

// refused checks that they cannot be had.
func (p *plain) refused(n, limit int) {
	p.Helper()
	if _, err := p.b.Acquire(ctxFor(p), p.ask(n, limit)); !errors.Is(err, driver.ErrHeld) {
		p.Errorf("%d of %d: %v", n, limit, err)
	}
}

// there checks the number that Java sees.
func (p *plain) there(when, want string) {
	p.Helper()
	if got := p.s.Do("GET", "a"); got != want {
		p.Errorf("%s: %v permits are there, want %s", when, got, want)
	}
}

// TestNumberOfAnRSemaphore: whatever Bedrock does, what others have done to it stays.
func TestNumberOfAnRSemaphore(t *testing.T) {
	eachPlain(t, func(p *plain) {
		one := p.take(2, 5)
		p.there("two of five are ours", "3")
		p.s.Do("DECRBY", "a", 2)
		p.refused(2, 5)
		two := p.take(1, 5)
		p.there("three are ours, and two Java's", "0")
		mustRelease(p, p.b, one)
		mustRelease(p, p.b, one)
		p.there("two of ours came back, twice", "2")
		p.refused(3, 5)
		p.refused(3, 4)
		p.there("the limit is one less", "1")
		three := p.take(2, 6)
		p.there("the limit is two more, and they are taken", "1")
		p.s.Do("INCRBY", "a", 2)
		p.there("Java has given back", "3")
		mustRelease(p, p.b, two)
		mustRelease(p, p.b, three)
		p.there("nobody has any", "6")
		p.s.Do("SET", "a", 0)
		p.refused(1, 6)
		p.there("Java has drained it", "0")
		p.s.Do("INCRBY", "a", 9)
		mustRelease(p, p.b, p.take(6, 6))
		p.refused(7, 6)
		p.there("Java has added more than the limit", "9")
	})
}

// TestNumberThatJavaHasMade is believed, and no limit of ours is overstepped; nor is it forgotten for another kind.
func TestNumberThatJavaHasMade(t *testing.T) {
	eachPlain(t, func(p *plain) {
		p.s.Do("SET", "a", 3)
		one := p.take(2, 2)
		p.there("two of Java's three are ours", "1")
		p.refused(1, 2)
		mustRelease(p, p.b, one)
		p.there("they came back", "3")
		mustRelease(p, p.b, p.take(3, 3)) // one more, as the limit says
		p.there("the limit is one more", "4")
		if left := p.s.Do("PTTL", "a"); left != int64(-1) {
			p.Errorf("Java's number ends in %v ms", left)
		}
		var kind *driver.KindError
		if _, err := p.b.Acquire(ctxFor(p), request("a", uuidA+":99")); !errors.As(err, &kind) {
			p.Errorf("a mutex of that name: %v", err)
		}
		p.s.Do("DEL", "a")
		mustRelease(p, p.b, p.take(1, 2))
		p.there("Java has deleted it", "2")
	})
}

// TestOursOfAnRSemaphoreComeBack when their time is over, by whatever call of ours, and Java is woken.
func TestOursOfAnRSemaphoreComeBack(t *testing.T) {
	eachPlain(t, func(p *plain) {
		client := goredisclient.NewClient(&goredisclient.Options{Addr: p.s.Addr()})
		java := client.Subscribe(ctxFor(p), "redisson_sc:{a}")
		p.Cleanup(func() { _, _ = java.Close(), client.Close() })
		if _, err := java.Receive(ctxFor(p)); err != nil {
			p.Fatal(err)
		}
		living := p.take(1, 5)
		for way, call := range map[string]func(){
			"request": func() { p.refused(9, 5) },
			"renewal": func() { p.b.Renew(ctxFor(p), []driver.Grant{living}) },
			"release": func() { _, _ = p.b.Release(ctxFor(p), living); living = p.take(1, 5) },
		} {
			dying := p.ask(2, 5)
			dying.TTL = time.Millisecond
			mustAcquire(p, p.b, dying)
			until(p.T, "the dead to come back by a "+way, func() bool {
				call()
				return p.s.Do("GET", "a") == "4"
			})
			if m, err := java.ReceiveMessage(ctxFor(p)); err != nil || m.Payload == "0" {
				p.Errorf("%s: java hears %v, %v", way, m, err)
			}
			if known := p.s.Do("HLEN", "bedrock_holders:{a}"); known != int64(2) {
				p.Errorf("%s: %v fields are known", way, known)
			}
		}
	})
}

// TestReleaseTellsJavaTheNumber, as Redisson does: so many of its waiters look.
func TestReleaseTellsJavaTheNumber(t *testing.T) {
	eachPlain(t, func(p *plain) {
		client := goredisclient.NewClient(&goredisclient.Options{Addr: p.s.Addr()})
		java := client.Subscribe(ctxFor(p), "redisson_sc:{a}")
		p.Cleanup(func() { _, _ = java.Close(), client.Close() })
		if _, err := java.Receive(ctxFor(p)); err != nil {
			p.Fatal(err)
		}
		mustRelease(p, p.b, p.take(2, 5))
		if m, err := java.ReceiveMessage(ctxFor(p)); err != nil || m.Payload != "5" {
			p.Errorf("java hears %v, %v", m, err)
		}
	})
}

// TestOthersOfAnRSemaphoreAreShown as one holder without a name; by force only ours are freed.
func TestOthersOfAnRSemaphoreAreShown(t *testing.T) {
	eachPlain(t, func(p *plain) {
		one := p.take(2, 7)
		p.s.Do("DECRBY", "a", 3)
		for _, looks := range []func() ([]driver.Info, error){
			func() ([]driver.Info, error) { return p.b.(driver.Inspector).List(ctxFor(p), "", 9) },
			func() ([]driver.Info, error) {
				info, err := p.b.(driver.Inspector).Inspect(ctxFor(p), "a")
				return []driver.Info{info}, err
			},
		} {
			infos, err := looks()
			if err != nil || len(infos) != 1 || infos[0].Limit != 7 || len(infos[0].Holders) != 2 {
				p.Fatalf("shown as %+v, %v", infos, err)
			}
			for _, h := range infos[0].Holders {
				if want := map[string]int{"": 3, one.Owner: 2}[h.Owner]; h.Permits != want {
					p.Errorf("%q is shown with %d", h.Owner, h.Permits)
				}
			}
		}
		if held, err := p.b.(driver.Forcer).ForceRelease(ctxFor(p), "a"); err != nil || !held {
			p.Errorf("by force: %t, %v", held, err)
		}
		p.there("ours were taken away", "4")
		if _, err := p.b.Release(ctxFor(p), one); !errors.Is(err, driver.ErrLost) {
			p.Errorf("released after that: %v", err)
		}
		p.there("and came back once", "4")
	})
}

// TestSemaphoresOfTwoLayouts of one name are refused while somebody has permits.
func TestSemaphoresOfTwoLayouts(t *testing.T) {
	eachPlain(t, func(p *plain) {
		other := open(p, connectGoredis(p, single(p.s)), nil)
		for _, pair := range [][2]driver.Backend{{p.b, other}, {other, p.b}, {p.b, other}} {
			g := mustAcquire(p, pair[0], p.ask(1, 2))
			if _, err := pair[1].Acquire(ctxFor(p), p.ask(1, 2)); !errors.Is(err, driver.ErrRefused) {
				p.Errorf("in the other layout: %v", err)
			}
			p.there("it was refused", "1")
			mustRelease(p, pair[0], g)
		}
	})
}

// TestPermitsComeBackToAnotherLock: somebody has deleted the number, and has a lock of that name, which in Java looks
// at nothing else. Permits of ours are released, and those of the dead come back, without a number.
func TestPermitsComeBackToAnotherLock(t *testing.T) {
	eachPlain(t, func(p *plain) {
		ours, others, dead := p.take(1, 9), p.take(1, 9), p.ask(1, 9)
		dead.TTL = time.Millisecond
		mustAcquire(p, p.b, dead)
		p.s.Do("DEL", "a")
		p.s.Do("HSET", "a", javas, 1)
		before := p.s.Do("DUMP", "a")
		until(p.T, "the dead to come back", func() bool {
			if errs := p.b.Renew(ctxFor(p), []driver.Grant{ours}); errs[0] != nil {
				p.Fatal(errs)
			}
			return p.s.Do("ZCARD", "bedrock_permits:{a}") == int64(2)
		})
		for _, g := range []driver.Grant{ours, ours, others} {
			mustRelease(p, p.b, g)
		}
		if left := p.s.Do("EXISTS", "bedrock_permits:{a}"); left != int64(0) {
			p.Error("they are taken still")
		}
		if after := p.s.Do("DUMP", "a"); after != before {
			p.Errorf("somebody's lock is changed: %v", after)
		}
	})
}
