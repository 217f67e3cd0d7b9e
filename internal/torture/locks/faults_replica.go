package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// replicaFaults are the kinds of faults in which the only replica is away for a while, so
// that no grant can be confirmed.
func replicaFaults() []string { return []string{replicaAway, replicaBack, failOver} }

const (
	replicaAway = "replica away"
	replicaBack = "replica restarted"
	failOver    = "fail-over"
)

// pair is a master and its replica behind one address that moves at a fail-over. Every
// grant has to be confirmed by the replica, so none is lost then.
type pair struct {
	host            *stage.Host
	scene           *scene
	master, replica *testenv.RedisServer
	// link is the way from the replica to the master.
	link *chaos.Proxy
}

func (s *scene) replica(host *stage.Host) {
	p := &pair{host: host, scene: s, master: testenv.Redis(host, durable()), replica: testenv.Redis(host, durable())}
	link, err := chaos.New(p.master.Addr())
	if err != nil {
		host.Fatal(err)
	}
	host.Cleanup(func() { _ = link.Close() })
	p.link = link
	p.attach()
	s.Acks = true
	s.addr = p.master.Addr()
	s.url = "redis://" + s.addr + "?acks=all&ack-timeout=300ms"
	s.front = s.url
	s.faults = p.faults()
}

// attach makes the replica follow the master, and waits until it has all its data.
func (p *pair) attach() {
	p.link.Heal()
	p.link.Retarget(p.master.Addr())
	host, port, _ := strings.Cut(p.link.Addr(), ":")
	p.replica.Do("REPLICAOF", host, port)
	p.waitUntil("replication", func() bool {
		return p.replica.Info("master_link_status") == "up" && p.connected() == "1"
	})
}

// connected is how many replicas the master sees.
func (p *pair) connected() string { return p.master.Info("connected_slaves") }

func (p *pair) waitUntil(what string, holds func() bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for !holds() {
		if !sleep.For(ctx, 10*time.Millisecond) {
			p.host.Fatalf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

func (p *pair) faults() []nemesis.Fault {
	refused := nemesis.Excuses{Loss: true, Wait: true}
	list := []nemesis.Fault{
		{
			Name: replicaAway, Excuses: refused, Weight: 2,
			Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
				return stage.Frozen(ctx, p.replica, nemesis.Between(random, time.Second, 3*time.Second))
			},
		},
		{Name: replicaBack, Excuses: refused, Weight: 4, Strike: p.restartReplica},
		{Name: "replica lagging", Excuses: refused, Weight: 4, Strike: p.lag},
		{Name: failOver, Excuses: refused, Weight: 3, Strike: p.failOver},
		{
			Name: "server frozen", Excuses: refused,
			Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
				return stage.Frozen(ctx, p.master, nemesis.Between(random, 100*time.Millisecond, 2*time.Second))
			},
		},
	}
	return list
}

// unnoticed is how long clients may go on with what they knew of the replicas.
const unnoticed = 2 * time.Second

// thenAway takes a replica away again that has just come back: it counts by then.
func (p *pair) thenAway(ctx context.Context, random *rand.Rand, e *nemesis.Effect) error {
	sleep.For(ctx, unnoticed)
	away, err := stage.Frozen(ctx, p.replica, nemesis.Between(random, 1500*time.Millisecond, 2500*time.Millisecond))
	e.From, e.To = away.From, away.To
	return err
}

// restartReplica lets a newcomer get to know the master without its replica. When that is
// back it counts again.
func (p *pair) restartReplica(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
	err = p.host.Try(func() {
		p.replica.Kill()
		p.waitUntil("the replica's end", func() bool { return p.connected() == "0" })
	})
	if err != nil {
		return e, err
	}
	e.Evidence = "the master has seen no replica"
	err = p.scene.newcomer(ctx, random)
	sleep.For(ctx, nemesis.Between(random, time.Second, 2*time.Second))
	err = errors.Join(err, p.host.Try(func() {
		p.replica.Restart(true)
		p.attach()
	}))
	if err == nil {
		err = p.thenAway(ctx, random, &e)
	}
	return e, err
}

// lag makes the replica late, now too late and now not, while packets of the workers
// overtake each other: what was given back because it was not confirmed in time may
// arrive when it has been granted again.
func (p *pair) lag(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
	before := p.link.Evidence().Delayed
	p.link.Jitter(nemesis.Between(random, 400*time.Millisecond, 700*time.Millisecond))
	p.scene.uneven(nemesis.Between(random, 500*time.Millisecond, 1200*time.Millisecond))
	sleep.For(ctx, nemesis.Between(random, 2*time.Second, 4*time.Second))
	p.link.Heal()
	p.scene.uneven(0)
	if n := p.link.Evidence().Delayed - before; n > 0 {
		e.Evidence = fmt.Sprintf("%d packets were late", n)
	}
	return e, nil
}

// failOver kills the master, lets the replica take its place and its address, and brings
// the former master back as its replica.
func (p *pair) failOver(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
	p.master.Kill()
	e.Evidence, err = stage.Silent(p.master.Addr())
	err = errors.Join(err, p.host.Try(func() {
		p.replica.Do("REPLICAOF", "NO", "ONE")
		p.master, p.replica = p.replica, p.master
		p.scene.retarget(p.master.Addr())
		sleep.For(ctx, nemesis.Between(random, 500*time.Millisecond, 2*time.Second))
		p.replica.Restart(true)
		p.attach()
	}))
	if err == nil {
		err = p.thenAway(ctx, random, &e)
	}
	return e, err
}

// sentinel is a master with two replicas whose fail-overs can lose grants.
func (s *scene) sentinel(host *stage.Host) {
	set := testenv.Sentinel(host, 2)
	s.url = fmt.Sprintf("redis-sentinel://%s/%s", strings.Join(set.Addrs(), ","), set.MasterName)
	s.front = s.url
	lost := nemesis.Excuses{Loss: true, Wait: true, Twice: true}
	s.elections = &elections{servers: set.Servers, masters: 1, excuses: lost}
	s.faults = []nemesis.Fault{
		{Name: failOver, Excuses: lost, Strike: func(ctx context.Context, _ *rand.Rand) (e nemesis.Effect, err error) {
			return e, host.Try(func() {
				old := set.KillMaster()
				master, err := set.WaitFailover(ctx, old)
				if err != nil {
					host.Fatal(err)
				}
				e.Evidence = old.Addr() + " was followed by " + master.Addr()
				old.Restart(true)
				if err := waitAgreed(ctx, func() bool { return set.Master() != nil }); err != nil {
					host.Fatal(err)
				}
			})
		}},
		{
			Name: "master frozen", Excuses: lost,
			Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
				master := set.Master()
				if master == nil {
					return nemesis.Effect{}, errors.New("the Sentinels do not agree on a master")
				}
				e, err := stage.Frozen(ctx, master, nemesis.Between(random, 100*time.Millisecond, 3*time.Second))
				return e, errors.Join(err, waitAgreed(ctx, func() bool { return set.Master() != nil }))
			},
		},
		{Name: "subscriptions killed", Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
			return onMaster(set, func(m *testenv.RedisServer) (nemesis.Effect, error) {
				return kills(m, "pubsub")(ctx, random)
			})
		}},
	}
}

// elected is how long after the end of a fault a fail-over may still follow from it.
const elected = 1500 * time.Millisecond

// waitAgreed waits until a set of servers has come to an agreement, and it is sure that no
// fail-over is on its way any more.
func waitAgreed(ctx context.Context, agreed func() bool) error {
	sleep.For(ctx, elected)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for !agreed() {
		if !sleep.For(ctx, 20*time.Millisecond) {
			return fmt.Errorf("waiting for a master: %w", ctx.Err())
		}
	}
	return nil
}

func onMaster(set *testenv.SentinelSet, do func(*testenv.RedisServer) (nemesis.Effect, error)) (nemesis.Effect, error) {
	master := set.Master()
	if master == nil {
		return nemesis.Effect{}, errors.New("the Sentinels do not agree on a master")
	}
	return do(master)
}

// cluster has three masters with a replica each.
func (s *scene) cluster(host *stage.Host) {
	set := testenv.Cluster(host, 3, 1)
	s.url = "redis-cluster://" + strings.Join(set.Addrs(), ",")
	s.front = s.url
	lost := nemesis.Excuses{Loss: true, Wait: true, Twice: true}
	s.elections = &elections{servers: set.Nodes, masters: 3, excuses: lost}
	s.faults = []nemesis.Fault{
		{
			Name: failOver, Excuses: lost,
			Strike: func(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
				return e, host.Try(func() {
					slot := set.KeySlot(s.hot(random))
					old := set.KillMasterOf(slot)
					master, err := set.WaitFailover(ctx, slot, old)
					if err != nil {
						host.Fatal(err)
					}
					e.Evidence = old.Addr() + " was followed by " + master.Addr()
					old.Restart(true)
				})
			},
		},
		{
			Name: "slot moved", Excuses: nemesis.Excuses{Loss: true}, Weight: 2,
			Strike: func(_ context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
				return e, host.Try(func() { e.Evidence = s.moveSlot(set, random) })
			},
		},
		{
			Name: "node frozen", Excuses: lost,
			Strike: func(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
				var node *testenv.RedisServer
				if err := host.Try(func() { node = set.NodeForSlot(set.KeySlot(s.hot(random))) }); err != nil {
					return e, err
				}
				e, err = stage.Frozen(ctx, node, nemesis.Between(random, 100*time.Millisecond, 3*time.Second))
				return e, errors.Join(err, waitAgreed(ctx, func() bool { return true }))
			},
		},
	}
}

// hot is a random name that many want.
func (s *scene) hot(random *rand.Rand) string {
	return fmt.Sprintf("%shot/%d", s.Prefix, random.IntN(hotNames))
}

// moveSlot moves the slot of a lock to another master while it is used.
func (s *scene) moveSlot(set *testenv.ClusterSet, random *rand.Rand) string {
	slot := set.KeySlot(s.hot(random))
	from := set.NodeForSlot(slot)
	for _, other := range []int{0, 5000, 10000, 16000} {
		if to := set.NodeForSlot(other); to != from {
			began := history.Now()
			set.MoveSlot(slot, from, to)
			return fmt.Sprintf("slot %d went from %s to %s in %v", slot, from.Addr(), to.Addr(), history.Now()-began)
		}
	}
	return ""
}
