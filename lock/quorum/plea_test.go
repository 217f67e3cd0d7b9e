package quorum_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// slowNode is a node from which answers take their time, and on the way to which pleas do.
type slowNode struct {
	driver.Backend
	driver.Notifier
	driver.Pleader
	driver.Identifier

	answer, plead time.Duration
}

func (n *slowNode) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g, err := n.Backend.Acquire(ctx, req)
	time.Sleep(n.answer)
	return g, err
}

func (n *slowNode) Plead(ctx context.Context, name string, p driver.Plea) (int, error) {
	time.Sleep(n.plead)
	return n.Pleader.Plead(ctx, name, p)
}

// slowClient is a client of the stores, over ways that take that long.
func slowClient(t *testing.T, stores []*memlock.Store, o lock.Observer, answer, plead []time.Duration) *lock.Client {
	t.Helper()
	nodes := make([]driver.Backend, len(stores))
	for i, s := range stores {
		b := memlock.NewBackend(s)
		nodes[i] = &slowNode{
			b, b.(driver.Notifier), b.(driver.Pleader), b.(driver.Identifier), answer[i], plead[i],
		}
	}
	c, err := quorum.New(nodes, &quorum.Options{Quarantine: -1, Lock: lock.Options{Observer: o}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	return c
}

// pleas are what holders were told of.
type pleas struct {
	mu   sync.Mutex
	seen []lock.Plea
}

func (p *pleas) Observe(_ context.Context, e lock.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Kind == lock.EventAsked {
		p.seen = append(p.seen, e.Plea)
	}
}

var noTime = make([]time.Duration, 3)

// TestPleaWhileVotesAreOnTheirWay: all nodes have granted it, and their answers are on the way, when somebody asks.
// One was told, and never hears of it.
func TestPleaWhileVotesAreOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := []*memlock.Store{memlock.NewStore(nil), memlock.NewStore(nil), memlock.NewStore(nil)}
		ways := []time.Duration{50 * time.Millisecond, 50 * time.Millisecond, 50 * time.Millisecond}
		one := slowClient(t, stores, nil, ways, noTime)
		other := slowClient(t, stores, nil, noTime, noTime)
		told, by, done := 0, time.Time{}, make(chan struct{})
		go func() {
			defer close(done)
			for told == 0 && t.Context().Err() == nil {
				time.Sleep(time.Millisecond)
				by = time.Now().Add(time.Minute)
				told, _ = other.Ask(t.Context(), "a", "maintenance", time.Minute)
			}
		}()
		lease, err := one.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		<-done
		synctest.Wait()
		p, asked := lease.Plea()
		if !asked {
			t.Errorf("%d were told, and the lease has not heard it", told)
		}
		if !p.By.Equal(by) {
			t.Errorf("it is wanted by %v, want %v", p.By, by)
		}
		_ = lease.Unlock(t.Context())
	})
}

// TestTwoAskAtOnce over ways of different length: each plea is told once, and the last one is the last.
func TestTwoAskAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := []*memlock.Store{memlock.NewStore(nil), memlock.NewStore(nil), memlock.NewStore(nil)}
		var seen pleas
		one := slowClient(t, stores, &seen, noTime, noTime)
		ways := []time.Duration{time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond}
		first, second := slowClient(t, stores, nil, noTime, ways), slowClient(t, stores, nil, noTime, ways)
		lease, err := one.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() { _, _ = first.Ask(t.Context(), "a", "first", 0) })
		time.Sleep(5 * time.Millisecond)
		all.Go(func() { _, _ = second.Ask(t.Context(), "a", "second", 0) })
		all.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if len(seen.seen) != 2 {
			t.Errorf("two have asked, and it is told of %d: %+v", len(seen.seen), seen.seen)
		}
		if p, _ := lease.Plea(); p.Reason != "second" {
			t.Errorf("last is %+v", p)
		}
		_ = lease.Unlock(t.Context())
	})
}

// TestPleaIsRepeated: many that follow each other are told once each, and what is asked again after some time is told
// again.
func TestPleaIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := []*memlock.Store{memlock.NewStore(nil), memlock.NewStore(nil), memlock.NewStore(nil)}
		var seen pleas
		one, other := slowClient(t, stores, &seen, noTime, noTime), slowClient(t, stores, nil, noTime, noTime)
		lease, err := one.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for round := range 2 {
			for i := range 20 {
				reason := strconv.Itoa(i)
				if told, err := other.Ask(t.Context(), "a", reason, 0); told != 1 || err != nil {
					t.Fatal(told, err, lease.Err())
				}
				synctest.Wait()
				want = append(want, reason)
			}
			if round == 0 {
				time.Sleep(15 * time.Second)
			}
		}
		var got []string
		for _, p := range seen.seen {
			got = append(got, p.Reason)
		}
		if !slices.Equal(got, want) {
			t.Errorf("told of %v, want %v", got, want)
		}
		_ = lease.Unlock(t.Context())
	})
}
