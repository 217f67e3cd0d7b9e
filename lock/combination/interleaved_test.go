package combination_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/several/severaltest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// contender is a client whose every request of a node waits for its turn.
type contender struct {
	*member
	turn, done chan struct{}
	ended      chan struct{}
	lease      *lock.Lease
	err        error
}

// gate holds the requests of one node up.
type gate struct {
	*bedrocktest.Backend
	of *contender
}

// Acquire implements [driver.Backend].
func (g *gate) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if req.Name != "a" {
		return g.Backend.Acquire(ctx, req)
	}
	select {
	case <-g.of.turn:
	case <-g.of.ended: // it asks a node that is back to join
		return g.Backend.Acquire(ctx, req)
	}
	grant, err := g.Backend.Acquire(ctx, req)
	g.of.done <- struct{}{}
	return grant, err
}

func compete(t *testing.T, nodes severaltest.Servers) *contender {
	t.Helper()
	c := &contender{turn: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{})}
	lines, backends := nodes.Connect()
	for i, line := range lines {
		backends[i] = &gate{line, c}
	}
	locks, err := combination.New(backends, &combination.Options{Lock: lock.Options{Patience: -1}})
	if err != nil {
		t.Fatal(err)
	}
	c.member = &member{locks, lines}
	mustUnlock(t, mustLock(t, c.member, "warm up"))
	go func() {
		defer close(c.ended)
		c.lease, c.err = locks.Mutex("a", nil).TryLock(t.Context())
	}()
	return c
}

// step lets the contender ask the next node, if it has not ended.
func (c *contender) step() {
	select {
	case c.turn <- struct{}{}:
		<-c.done
	case <-c.ended:
	}
}

// orders are all orders of three steps of A, three of B, and the death of the nodes in dying.
func orders(a, b int, dying string, visit func(order string)) {
	var add func(order string, a, b int, dying string)
	add = func(order string, a, b int, dying string) {
		if a == 0 && b == 0 && dying == "" {
			visit(order)
			return
		}
		if a > 0 {
			add(order+"A", a-1, b, dying)
		}
		if b > 0 {
			add(order+"B", a, b-1, dying)
		}
		if dying != "" {
			add(order+dying[:1], a, b, dying[1:])
		}
	}
	add("", a, b, dying)
}

// TestBothContendersWin: one or two of three nodes die, at any moment of the contest of two, who take any turns. One
// of them has the lock, and the other one has not.
func TestBothContendersWin(t *testing.T) {
	for _, dying := range []string{"", "1", "2", "3", "12", "21", "23", "13"} {
		t.Run("dying "+dying, func(t *testing.T) {
			orders(3, 3, dying, func(order string) {
				three(t, func(t *testing.T, nodes severaltest.Servers) { duel(t, nodes, order) })
			})
		})
	}
}

func duel(t *testing.T, nodes severaltest.Servers, order string) {
	t.Helper()
	a, b := compete(t, nodes), compete(t, nodes)
	for _, what := range order {
		switch what {
		case 'A':
			a.step()
		case 'B':
			b.step()
		default:
			n := strings.IndexRune("123", what) + 1
			a.down(n)
			b.down(n)
		}
	}
	<-a.ended
	<-b.ended
	var won []*contender
	for _, c := range []*contender{a, b} {
		if c.err == nil {
			won = append(won, c)
		} else if !errors.Is(c.err, lock.ErrHeld) {
			t.Errorf("%s: %v", order, c.err)
		}
	}
	if len(won) != 1 {
		t.Fatalf("%s: %d have the lock: %v, %v", order, len(won), a.err, b.err)
	}
	for _, c := range []*contender{a, b} {
		c.up(1, 2, 3)
	}
	pass(time.Second)
	mustUnlock(t, won[0].lease)
	pass(time.Second)
	for i, n := range nodes {
		if left := n.Holders(); len(left) > 0 {
			t.Errorf("%s: left at node %d: %v", order, i+1, left)
		}
	}
	for _, c := range []*contender{a, b} {
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestWaiterIsNotWoken by the release at the node that has refused it. It began to listen there a moment later than
// at the others.
func TestWaiterIsNotWoken(t *testing.T) {
	for _, late := range []time.Duration{4 * time.Millisecond, 20 * time.Millisecond} {
		for slow := 1; slow <= 3; slow++ {
			t.Run(fmt.Sprintf("node %d after %s", slow, late), func(t *testing.T) { wake(t, slow, late) })
		}
	}
}

func wake(t *testing.T, slow int, late time.Duration) {
	t.Helper()
	three(t, func(t *testing.T, nodes severaltest.Servers) {
		a, b := join(t, nodes, nil), join(t, nodes, nil)
		lease := mustLock(t, a, "a")
		b.lines[slow-1].Fail(bedrocktest.Watch, bedrocktest.Fault{Delay: late})
		next := make(chan *lock.Lease, 1)
		go func() { next <- mustLock(t, b, "a") }()
		pass(late / 2)
		mustUnlock(t, lease)
		released := time.Now()
		mustUnlock(t, <-next)
		if took := time.Since(released); took > 50*time.Millisecond {
			t.Errorf("had %s after the release", took)
		}
	})
}
