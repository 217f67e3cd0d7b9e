package locktest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// contention is many goroutines of several clients after one lock.
type contention struct {
	e                           *env
	clients, goroutines, rounds int
	faulty                      bool         // calls fail now and then
	strike                      func() error // disturbs the store meanwhile

	history history
	over    atomic.Bool // the strike, if there is one
}

// run contends until every goroutine has had its rounds, and the strike is over
// if there is one.
func (c *contention) run() {
	var group sync.WaitGroup
	name := c.e.name("contended")
	for i := range c.clients {
		client, f := c.e.faultyClient(&lock.Options{TTL: c.e.long})
		if c.faulty {
			c.plan(f)
		}
		for j := range c.goroutines {
			group.Go(func() {
				c.contend(i*c.goroutines+j, client.Mutex(name, nil))
			})
		}
	}
	c.disturb()
	group.Wait()
}

// contend is what one goroutine does: half of its rounds come after the strike.
func (c *contention) contend(client int, m *lock.Mutex) {
	for round := 0; round < c.rounds; {
		if round < c.rounds/2 || c.over.Load() {
			round++
		}
		c.round(client, m)
	}
}

// disturb strikes when the contest is in full swing.
func (c *contention) disturb() {
	defer c.over.Store(true)
	if c.strike == nil {
		return
	}
	c.e.eventually("there have been grants", func() bool { return c.history.countGrants() >= c.clients*c.goroutines })
	if err := c.strike(); err != nil {
		c.e.Errorf("strike: %v", err)
	}
}

// plan makes calls fail, in turn in all ways there are.
func (c *contention) plan(f *bedrocktest.Backend) {
	ways := []bedrocktest.Fault{
		{After: bedrocktest.ErrReplyLost},
		{Before: driver.ErrUnavailable},
		{Before: bedrocktest.ErrReplyLost},
		{Delay: time.Millisecond, Linger: time.Millisecond},
	}
	for i := range c.rounds * c.goroutines {
		fault := ways[i%len(ways)]
		f.Fail(bedrocktest.Acquire, make([]bedrocktest.Fault, 3+rand.N(5))...)
		f.Fail(bedrocktest.Acquire, fault)
		f.Fail(bedrocktest.Release, make([]bedrocktest.Fault, 3+rand.N(5))...)
		f.Fail(bedrocktest.Release, fault)
	}
}

// round takes the lock once and gives it back.
func (c *contention) round(client int, m *lock.Mutex) {
	h, owner := &c.history, newOwner()
	call := h.now()
	lease, err := m.Lock(c.e.contextFor(time.Minute))
	if err != nil {
		c.addUnknown(client, call, owner, err)
		return
	}
	granted := h.now()
	h.add(client, call, action{owner: owner}, outcome{token: lease.Token()})
	me := h.believe(lease)
	time.Sleep(rand.N(c.longestHold()))
	me.leaving.Store(true)
	call = h.now()
	err = lease.Unlock(c.e.contextFor(soon))
	switch {
	case err == nil:
		h.add(client, call, action{unlock: true, owner: owner}, outcome{})
	case errors.Is(err, lock.ErrLost):
		h.add(client, granted, action{unlock: true, owner: owner}, outcome{unknown: true})
	case lock.MaybeApplied(err):
		h.add(client, call, action{unlock: true, owner: owner}, outcome{unknown: true})
	default:
		c.e.Errorf("unlock: %v", err)
	}
}

// longestHold is short, but for a strike, so that its history stays small.
func (c *contention) longestHold() time.Duration {
	if c.strike != nil {
		return 5 * time.Millisecond
	}
	return 200 * time.Microsecond
}

// addUnknown records a Lock that may have been granted all the same, and then
// released in the background.
func (c *contention) addUnknown(client int, call int64, owner string, err error) {
	if !lock.MaybeApplied(err) && c.strike == nil && !c.faulty {
		c.e.Errorf("lock: %v", err)
		return
	}
	c.history.add(client, call, action{owner: owner}, outcome{unknown: true})
	c.history.add(client, call, action{unlock: true, owner: owner}, outcome{unknown: true})
}

// expectGrants checks that there was something to check.
func (c *contention) expectGrants(least int) {
	if n := c.history.countGrants(); n < least {
		c.e.Errorf("only %d grants, want at least %d", n, least)
	}
}
