package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// serverFaults are those that a Redis with its data on disk has to bear.
func serverFaults(host *stage.Host, server *testenv.RedisServer) []nemesis.Fault {
	away := nemesis.Excuses{Loss: true, Wait: true}
	return []nemesis.Fault{
		{
			Name: "server frozen", Excuses: away,
			Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
				return stage.Frozen(ctx, server, nemesis.Between(random, 100*time.Millisecond, 3*time.Second))
			},
		},
		{Name: "server killed", Excuses: away, Strike: func(context.Context, *rand.Rand) (nemesis.Effect, error) {
			return restarted(host, server, true)
		}},
		{Name: "connections killed", Excuses: nemesis.Excuses{Loss: true}, Strike: kills(server, "normal")},
		{Name: "subscriptions killed", Strike: kills(server, "pubsub")},
		{Name: "scripts flushed", Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
			return repeat(ctx, random, func() (int, error) {
				_, err := server.Try("SCRIPT", "FLUSH")
				return 1, err
			})
		}},
	}
}

// forgetful are faults after which a server has lost its data: it grants again what is
// held. They are excused; the tokens must rise all the same.
func forgetful(host *stage.Host, server *testenv.RedisServer) []nemesis.Fault {
	lost := nemesis.Excuses{Loss: true, Wait: true, Twice: true}
	return []nemesis.Fault{
		{
			Name: "server restarted empty", Excuses: lost,
			Strike: func(context.Context, *rand.Rand) (nemesis.Effect, error) {
				return restarted(host, server, false)
			},
		},
		{Name: "data flushed", Excuses: lost, Strike: func(context.Context, *rand.Rand) (nemesis.Effect, error) {
			before, err := server.Try("DBSIZE")
			if err == nil {
				_, err = server.Try("FLUSHALL")
			}
			return nemesis.Effect{Evidence: fmt.Sprintf("%v keys were there", before)}, err
		}},
	}
}

func restarted(host *stage.Host, server *testenv.RedisServer, keepData bool) (e nemesis.Effect, err error) {
	server.Kill()
	e.Evidence, err = stage.Silent(server.Addr())
	return e, errors.Join(err, host.Try(func() { server.Restart(keepData) }))
}

// kills cuts connections of one type, again and again.
func kills(server *testenv.RedisServer, kind string) func(context.Context, *rand.Rand) (nemesis.Effect, error) {
	return func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
		return repeat(ctx, random, func() (int, error) {
			n, err := server.Try("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
			killed, _ := n.(int64)
			return int(killed), err
		})
	}
}

// repeat does something ten times a second for a while, and counts.
func repeat(ctx context.Context, random *rand.Rand, do func() (int, error)) (e nemesis.Effect, err error) {
	ctx, cancel := context.WithTimeout(ctx, nemesis.Between(random, 500*time.Millisecond, 4*time.Second))
	defer cancel()
	times, total := 0, 0
	for {
		n, err := do()
		if err != nil {
			return e, err
		}
		times, total = times+1, total+n
		if !sleep.For(ctx, 100*time.Millisecond) {
			break
		}
	}
	if total == 0 {
		return e, fmt.Errorf("%d times, and nothing was hit", times)
	}
	e.Evidence = fmt.Sprintf("%d times, %d in all", times, total)
	return e, nil
}

// faults are those of a Bedrock server in front of the locks.
func (d *daemon) faults() []nemesis.Fault {
	away := nemesis.Excuses{Loss: true, Wait: true}
	return []nemesis.Fault{
		{
			Name: "bedrock server killed", Excuses: away,
			Strike: func(ctx context.Context, _ *rand.Rand) (nemesis.Effect, error) {
				d.now.Kill()
				evidence, err := stage.Silent(d.addr)
				return nemesis.Effect{Evidence: evidence}, errors.Join(err, d.start(ctx))
			},
		},
		{
			Name: "bedrock server stopped", Excuses: away,
			Strike: func(ctx context.Context, _ *rand.Rand) (nemesis.Effect, error) {
				d.now.End(20 * time.Second)
				evidence, err := stage.Silent(d.addr)
				e := nemesis.Effect{Evidence: fmt.Sprintf("%s, exit code %d", evidence, d.now.Code())}
				return e, errors.Join(err, d.start(ctx))
			},
		},
		{
			Name: "bedrock server frozen", Excuses: away,
			Strike: func(ctx context.Context, random *rand.Rand) (nemesis.Effect, error) {
				return stage.Pause(ctx, d.now, nemesis.Between(random, 100*time.Millisecond, 3*time.Second))
			},
		},
	}
}
