package redislock_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// permitPlay is a random play of ours and of Java's with one RSemaphore.
type permitPlay struct {
	*plain
	*rand.Rand
	limit, java int // what we have asked with last, and how many permits Java has
	live, spent []driver.Grant
	steps       string
}

// step does one thing.
func (p *permitPlay) step() {
	switch k := p.IntN(12); {
	case k < 5:
		p.acquire()
	case k < 7 && len(p.live) > 0:
		p.release()
	case k == 7 && len(p.spent) > 0:
		_, _ = p.b.Release(ctxFor(p), p.spent[p.IntN(len(p.spent))])
		p.steps += "late release; "
	case k == 8:
		<-time.After(11 * time.Millisecond) // short ones are over
	case k == 9:
		if n, _ := strconv.Atoi(fmt.Sprint(p.s.Do("GET", "a"))); n > 0 {
			p.s.Do("DECR", "a")
			p.java++
			p.steps += "java takes; "
		}
	case k == 10 && p.java > 0:
		p.s.Do("INCR", "a")
		p.java--
		p.steps += "java gives; "
	case k == 11 && len(p.live) > 0:
		for _, err := range p.b.Renew(ctxFor(p), p.live) {
			if err != nil {
				p.Errorf("renew: %v, after %s", err, p.steps)
			}
		}
	}
}

// acquire asks for one or two permits, long or short, by the last limit or another one, and perhaps by a copy, too.
func (p *permitPlay) acquire() {
	if p.limit == 0 || p.IntN(6) == 0 {
		p.limit = 1 + p.IntN(7)
	}
	req := p.ask(1+p.IntN(min(2, p.limit)), p.limit)
	if p.IntN(4) == 0 {
		req.TTL = 10 * time.Millisecond
	}
	g, err := p.b.Acquire(ctxFor(p), req)
	p.steps += fmt.Sprintf("acquire %d/%d %v: %v; ", req.Permits, p.limit, req.TTL, err == nil)
	switch {
	case err != nil:
	case req.TTL < time.Second:
		p.spent = append(p.spent, g)
	default:
		p.live = append(p.live, g)
		if p.IntN(3) == 0 {
			mustAcquire(p, p.b, req)
		}
	}
}

// release gives a grant back, once or twice.
func (p *permitPlay) release() {
	i := p.IntN(len(p.live))
	mustRelease(p, p.b, p.live[i])
	if p.IntN(2) == 0 {
		_, _ = p.b.Release(ctxFor(p), p.live[i])
	}
	p.live = append(p.live[:i], p.live[i+1:]...)
	p.steps += "release; "
}

// finish gives back what ours have, and counts.
func (p *permitPlay) finish() {
	if p.limit == 0 {
		return
	}
	for _, g := range p.live {
		mustRelease(p, p.b, g)
	}
	<-time.After(15 * time.Millisecond) // short ones are over
	if g, err := p.b.Acquire(ctxFor(p), p.ask(p.limit, p.limit)); err == nil {
		if p.java > 0 {
			p.Errorf("all of them were had, and Java has %d, after %s", p.java, p.steps)
		}
		mustRelease(p, p.b, g)
	}
	if got, want := p.s.Do("GET", "a"), strconv.Itoa(p.limit-p.java); got != want {
		p.Errorf("%v are there, want %v, after %s", got, want, p.steps)
	}
}

// TestPermitsAreConserved plays many steps of ours and of Java's, and counts.
func TestPermitsAreConserved(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), &redislock.Options{Semaphores: redislock.RSemaphore})
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s.Do("FLUSHALL")
			play := &permitPlay{plain: &plain{T: t, s: s, b: b}, Rand: rand.New(rand.NewPCG(seed, 7))}
			for range 60 {
				play.step()
			}
			play.finish()
		})
	}
}
