package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// workerFaults hit single workers. What becomes of the leases of one that is killed or
// stopped the oracles know by themselves.
func (r *run) workerFaults() []nemesis.Fault {
	var list []nemesis.Fault
	if child.CanFreeze {
		list = append(list, nemesis.Fault{Name: "worker paused", Weight: 2, Strike: r.pauseWorker})
		if r.scene.Transactional {
			list[0].Excuses = nemesis.Excuses{Loss: true, Wait: true}
		}
	}
	if len(r.members) > 1 { // one that is alone has the locks in its own memory
		list = append(list, nemesis.Fault{Name: "worker killed", Weight: 2, Strike: r.killWorker})
	}
	return list
}

func (r *run) pauseWorker(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
	m := r.anyone(random)
	e, err := stage.Pause(ctx, m.process, nemesis.Between(random, shortTTL/5, shortTTL*3))
	e.Hit = r.hitBy(m)
	return e, err
}

// hitBy are those whom the fault of one worker hits: nobody by name where it may be anybody, since that one may keep
// others from the store.
func (r *run) hitBy(m *member) []string {
	if r.scene.Transactional {
		return nil
	}
	return []string{m.name}
}

func (r *run) killWorker(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
	m := r.anyone(random)
	r.killMember(m)
	e := nemesis.Effect{Hit: []string{m.name}, Evidence: fmt.Sprintf("process %d ended with code %d", m.process.Pid(),
		m.process.Code())}
	sleep.For(ctx, nemesis.Between(random, 0, time.Second))
	return e, r.start(ctx, m)
}

// newcomer kills a worker and starts another in its place at once.
func (r *run) newcomer(ctx context.Context, random *rand.Rand) error {
	m := r.anyone(random)
	r.killMember(m)
	return r.start(ctx, m)
}

// killMember kills a worker, and writes down that it was not its own fault.
func (r *run) killMember(m *member) {
	life := m.life()
	m.process.Kill()
	r.add(&event{Kind: kindKill, Text: life})
}

// linkFaults hit the connection of one worker.
func (r *run) linkFaults() []nemesis.Fault {
	if r.scene.addr == "" {
		return nil
	}
	lost := nemesis.Excuses{Loss: true, Wait: true}
	return []nemesis.Fault{
		{
			Name: "connection cut", Excuses: lost, Weight: 2,
			Strike: r.onLink(func(random *rand.Rand, p *chaos.Proxy) time.Duration {
				p.Cut()
				return nemesis.Between(random, 10*time.Millisecond, 2*time.Second)
			}, func(e chaos.Evidence) int { return e.Cut + e.Refused }),
		},
		{
			Name: "connection black-holed", Excuses: lost, Weight: 2,
			Strike: r.onLink(func(random *rand.Rand, p *chaos.Proxy) time.Duration {
				p.BlackHole([]chaos.Direction{chaos.Requests, chaos.Replies, chaos.Both}[random.IntN(3)])
				return nemesis.Between(random, 100*time.Millisecond, 3*time.Second)
			}, func(e chaos.Evidence) int { return int(e.BytesSwallowed) }),
		},
		{
			Name: "connection slow", Excuses: lost,
			Strike: r.onLink(func(random *rand.Rand, p *chaos.Proxy) time.Duration {
				p.Delay(nemesis.Between(random, 20*time.Millisecond, 400*time.Millisecond))
				return nemesis.Between(random, 500*time.Millisecond, 3*time.Second)
			}, func(e chaos.Evidence) int { return e.Delayed }),
		},
		{
			Name: "connection uneven", Excuses: lost, Weight: 2,
			Strike: r.onLink(func(random *rand.Rand, p *chaos.Proxy) time.Duration {
				p.Jitter(nemesis.Between(random, 50*time.Millisecond, 800*time.Millisecond))
				return nemesis.Between(random, time.Second, 3*time.Second)
			}, func(e chaos.Evidence) int { return e.Delayed }),
		},
		{
			Name: "replies lost", Excuses: nemesis.Excuses{Loss: true},
			Strike: r.onLink(func(random *rand.Rand, p *chaos.Proxy) time.Duration {
				p.DropReplies(1 + random.IntN(8))
				return time.Second
			}, func(e chaos.Evidence) int { return e.RepliesLost }),
		},
	}
}

var errNothingHit = errors.New("nothing passed that could be hit")

// onLink does something to the connections of one worker, for the time that it returns,
// and counts what it did.
func (r *run) onLink(
	do func(*rand.Rand, *chaos.Proxy) time.Duration, count func(chaos.Evidence) int,
) func(context.Context, *rand.Rand) (nemesis.Effect, error) {
	return func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
		m := r.anyone(random)
		e := nemesis.Effect{Hit: r.hitBy(m)}
		before := count(m.proxy.Evidence())
		began := history.Now()
		sleep.For(ctx, do(random, m.proxy))
		m.proxy.Heal()
		m.proxy.Delay(m.distance)
		n := count(m.proxy.Evidence()) - before
		if n == 0 {
			return e, errNothingHit
		}
		e.Evidence = fmt.Sprintf("%s: %d hits in %v", m.name, n, (history.Now() - began).Round(time.Millisecond))
		return e, nil
	}
}
