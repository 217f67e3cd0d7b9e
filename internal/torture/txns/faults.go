package txns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// strike is what a fault does.
type strike = func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error)

// participantAway excuses that limited attempts are used up.
func participantAway() nemesis.Excuses { return nemesis.Excuses{Outcome: true} }

// processFaults kill, pause and stop processes.
func (r *run) processFaults() []nemesis.Fault {
	list := []nemesis.Fault{
		{Name: "replica killed", Strike: r.on(r.anyReplica, r.kill)},
		{Name: "replica stopped", Weight: 3, Strike: r.on(r.anyReplica, r.stop)},
		{Name: "service killed", Excuses: participantAway(), Strike: r.on(r.theService, r.kill)},
	}
	if child.CanFreeze {
		list = append(list,
			nemesis.Fault{Name: "replica paused", Strike: r.on(r.anyReplica, freeze)},
			nemesis.Fault{Name: "service paused", Excuses: participantAway(), Strike: r.on(r.theService, freeze)})
	}
	return list
}

func (r *run) anyReplica(random *rand.Rand) *member { return r.replicas[random.IntN(len(r.replicas))] }

func (r *run) theService(*rand.Rand) *member { return r.service }

func (r *run) on(who func(*rand.Rand) *member, do func(context.Context, *rand.Rand, *member) (nemesis.Effect,
	error),
) strike {
	return func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
		return do(ctx, random, who(random))
	}
}

func (r *run) kill(ctx context.Context, random *rand.Rand, m *member) (e nemesis.Effect, err error) {
	m.process.Kill()
	e.Evidence = fmt.Sprintf("%s ended with code %d", m.Life, m.process.Code())
	sleep.For(ctx, nemesis.Between(random, 0, 500*time.Millisecond))
	return e, r.start(ctx, m)
}

// stop ends a process as a deployment does, several times: nobody may notice.
func (r *run) stop(ctx context.Context, random *rand.Rand, m *member) (e nemesis.Effect, err error) {
	for i := range 4 {
		if m.back != nil { // on a bad day there is more under way
			if m.back.Delay(nemesis.Between(random, 20*time.Millisecond, 150*time.Millisecond)); i%2 == 1 {
				m.back.LoseReplies(0.5)
			}
			sleep.For(ctx, 500*time.Millisecond)
		}
		err = m.process.Dismiss(patience)
		if m.back != nil {
			m.back.Heal()
		}
		e.Evidence = m.Life + " was stopped"
		if err = errors.Join(err, r.start(ctx, m)); err != nil {
			break
		}
		sleep.For(ctx, nemesis.Between(random, 200*time.Millisecond, 600*time.Millisecond))
	}
	return e, err
}

// freeze stops a process, often for longer than its lease.
func freeze(ctx context.Context, random *rand.Rand, m *member) (nemesis.Effect, error) {
	return stage.Pause(ctx, m.process, nemesis.Between(random, lease/4, lease*5/2))
}

// linkFaults break connections: to the store, to a replica, to the service.
func (r *run) linkFaults() []nemesis.Fault {
	var list []nemesis.Fault
	if r.scene.addr != "" {
		list = breakages("store", nemesis.Excuses{},
			func(random *rand.Rand) *chaos.Proxy { return r.anyReplica(random).back })
		for i := range list {
			list[i].Weight = 2 // acknowledgements of the store are what all depends on
		}
	}
	toReplica := func(random *rand.Rand) *chaos.Proxy { return r.anyReplica(random).front }
	toService := func(*rand.Rand) *chaos.Proxy { return r.service.front }
	list = append(list, breakages("replica", nemesis.Excuses{}, toReplica)...)
	return append(list, breakages("service", participantAway(), toService)...)
}

// breakages are what can be done to a connection.
func breakages(to string, excuses nemesis.Excuses, way func(*rand.Rand) *chaos.Proxy) []nemesis.Fault {
	list := []nemesis.Fault{
		{Name: "way to %s cut", Strike: onLink(way, func(random *rand.Rand, p *chaos.Proxy) time.Duration {
			p.Cut()
			return nemesis.Between(random, 10*time.Millisecond, 2*time.Second)
		})},
		{Name: "way to %s black-holed", Strike: onLink(way, func(random *rand.Rand, p *chaos.Proxy) time.Duration {
			p.BlackHole([]chaos.Direction{chaos.Requests, chaos.Replies, chaos.Both}[random.IntN(3)])
			return nemesis.Between(random, 200*time.Millisecond, 3*time.Second)
		})},
		{Name: "way to %s slow", Strike: onLink(way, func(random *rand.Rand, p *chaos.Proxy) time.Duration {
			p.Delay(nemesis.Between(random, 20*time.Millisecond, 300*time.Millisecond))
			return nemesis.Between(random, 500*time.Millisecond, 3*time.Second)
		})},
		{Name: "replies of %s lost", Strike: onLink(way, func(random *rand.Rand, p *chaos.Proxy) time.Duration {
			p.DropReplies(1 + random.IntN(10))
			return time.Second
		})},
		{Name: "way to %s flaky", Strike: onLink(way, func(random *rand.Rand, p *chaos.Proxy) time.Duration {
			p.LoseReplies(0.1 + random.Float64()/2)
			return nemesis.Between(random, time.Second, 3*time.Second)
		})},
	}
	for i := range list {
		list[i].Name, list[i].Excuses = fmt.Sprintf(list[i].Name, to), excuses
	}
	return list
}

// quiet is how long nothing may pass at most while all clients wait for something.
const quiet = 5 * time.Second

// onLink does something to connections for the time that it returns, and counts hits.
func onLink(way func(*rand.Rand) *chaos.Proxy, do func(*rand.Rand, *chaos.Proxy) time.Duration) strike {
	return func(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
		p := way(random)
		before := hits(p.Evidence())
		sleep.For(ctx, do(random, p))
		for waited := time.Duration(0); hits(p.Evidence()) == before && waited < quiet; waited += quiet / 100 {
			sleep.For(ctx, quiet/100)
		}
		p.Heal()
		if n := hits(p.Evidence()) - before; n > 0 {
			e.Evidence = fmt.Sprintf("%d hits", n)
		}
		return e, nil
	}
}

func hits(e chaos.Evidence) int64 {
	return int64(e.Cut+e.Refused+e.Delayed+e.RepliesLost) + e.BytesSwallowed
}

// serviceFaults make the service answer nonsense.
func (r *run) serviceFaults() []nemesis.Fault {
	return []nemesis.Fault{
		{Name: "service out of order", Excuses: participantAway(), Weight: 4, Strike: r.ill("/sick?share=95",
			"/sick?share=0", 2*time.Second, 4*time.Second)},
		{
			Name: "functions stuck", Excuses: participantAway(), Weight: 2,
			Strike: r.ill("/stuck?on=true", "/stuck?on=false",
				stuckAtLeast, 3*stuckAtLeast/2),
		},
	}
}

// stuckAtLeast is about when functions that do not return have opened a breaker, and the
// probe has not returned, either.
const stuckAtLeast = 6 * time.Second

func (r *run) ill(begin, end string, least, most time.Duration) strike {
	return func(ctx context.Context, random *rand.Rand) (e nemesis.Effect, err error) {
		if err := r.orderService(ctx, begin); err != nil {
			return e, err
		}
		sleep.For(ctx, nemesis.Between(random, least, most))
		e.Evidence = "the service has agreed"
		return e, r.orderService(ctx, end)
	}
}
