package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// scene is a backend and what can be done to it.
type scene struct {
	settings

	// url is how the controller reaches the locks, without anything in between.
	url string
	// front is what workers reach: the same, or the URL of a Bedrock server.
	front     string
	libraries []string
	// burden is how much more a lease costs than in a Redis: there are fewer that nobody else wants.
	burden int
	// addr is where proxies lead to; empty: there can be none.
	addr string
	// retarget is set by the run: it moves all proxies.
	retarget func(addr string)
	// uneven is set by the run, too: packets of all workers are late by up to a time, each
	// by its own. Zero heals that.
	uneven func(most time.Duration)
	// newcomer is set by the run as well: a worker makes room for one that knows nothing
	// of what was before.
	newcomer func(context.Context, *rand.Rand) error
	faults   []nemesis.Fault
	// elections are set where servers may choose a master.
	elections *elections
	// atRest complains about what is left when all clients have gone.
	atRest func(ctx context.Context) []string
}

// build makes the scene of a plan. What it needs is started on the host.
func (p *Plan) build(ctx context.Context, host *stage.Host) (*scene, error) {
	s := &scene{
		settings:  settings{Name: "locks " + p.Start, Seed: p.Seed},
		libraries: []string{viaGoRedis, viaRueidis}, burden: 1,
	}
	if p.Backend != "" {
		return s, s.theirs(p.Backend)
	}
	var err error
	failed := host.Try(func() {
		switch p.Start {
		case "memory":
			s.memory()
		case "redis":
			s.redis(host)
		case "replica":
			s.replica(host)
		case "sentinel":
			s.sentinel(host)
		case "cluster":
			s.cluster(host)
		case "server":
			err = s.server(ctx, p, host)
		case "etcd":
			s.etcd(host)
		case "zookeeper":
			s.zooKeeper(host)
		case "postgres":
			s.postgres(host)
		case "mariadb":
			s.mariadb(host)
		case "sqlite":
			s.file(p.Dir)
		}
	})
	return s, errors.Join(failed, err)
}

// theirs is a backend that somebody else runs: it is left alone, only the ways to it are not.
func (s *scene) theirs(url string) error {
	s.url, s.front = url, url
	if strings.HasPrefix(url, "http://") {
		s.libraries, s.addr = []string{viaServer}, stage.HostOf(url)
		s.Name = "locks at " + s.addr
		return nil
	}
	location, err := lockurl.Parse(url)
	if err != nil {
		return err
	}
	s.Name, s.addr = "locks at "+location.String(), location.Server()
	switch redis := location.Redis(); {
	case location.Memory():
		s.memory()
	case redis == nil:
		return s.theirOther(url)
	case redis.TLS():
		s.libraries = []string{viaGoRedis}
	}
	return nil
}

func (s *scene) memory() {
	s.url, s.front, s.libraries = "mem:", "mem:", []string{viaGoRedis, viaGoRedis, viaGoRedis}
}

func durable() *testenv.RedisOptions { return &testenv.RedisOptions{Persistence: testenv.PersistAOF} }

func (s *scene) redis(host *stage.Host) {
	server := testenv.Redis(host, durable())
	s.addr, s.url = server.Addr(), "redis://"+server.Addr()
	s.front, s.Mixed = s.url, true
	s.faults = append(serverFaults(host, server), forgetful(host, server)...)
}

// server is a Bedrock server that keeps its locks on a Redis.
func (s *scene) server(ctx context.Context, p *Plan, host *stage.Host) error {
	redis := testenv.Redis(host, durable())
	s.url = "redis://" + redis.Addr()
	way, err := chaos.New(redis.Addr())
	if err != nil {
		return err
	}
	host.Cleanup(func() { _ = way.Close() })
	bedrock, err := startServer(ctx, p, host, "redis://"+way.Addr())
	if err != nil {
		return err
	}
	s.Passing = true
	s.addr, s.front, s.libraries = bedrock.addr, "http://"+bedrock.addr, []string{viaServer, viaServer}
	s.faults = slices.Concat(serverFaults(host, redis), bedrock.faults(), s.storeFaults(way))
	s.atRest = bedrock.atRest
	return nil
}

// daemon is a Bedrock server of this run.
type daemon struct {
	addr  string
	start func(ctx context.Context) error
	now   *stage.Worker
	// idle is what it took when nobody had asked it for anything but its health.
	idle stage.Usage
}

func startServer(ctx context.Context, p *Plan, host *stage.Host, locks string) (*daemon, error) {
	port, err := stage.FreeAddr()
	if err != nil {
		return nil, err
	}
	d := &daemon{addr: port}
	program := stage.Program{Executable: p.Program.Executable, Args: []string{
		"serve", "--listen", port, "--store", "mem:", "--locks", locks, "--log-level", "error",
	}}
	d.start = func(ctx context.Context) (err error) {
		if d.now, err = program.Start(ctx, nil, p.Dir, "server"); err != nil {
			return err
		}
		return d.waitHealthy(ctx)
	}
	host.Cleanup(func() { d.now.Kill() })
	err = d.start(ctx)
	d.idle, _ = stage.UsageOf(d.now.Pid())
	return d, err
}

// waitHealthy waits until the server says that it is well.
func (d *daemon) waitHealthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for stage.HealthOf(ctx, "http://"+d.addr) != http.StatusOK {
		if d.now.Ended() {
			return fmt.Errorf("the Bedrock server ended with code %d", d.now.Code())
		}
		if !sleep.For(ctx, 20*time.Millisecond) {
			return fmt.Errorf("the Bedrock server did not become ready: %w", ctx.Err())
		}
	}
	return nil
}

// spareFiles is by how much the open files of a server at rest may differ: connections
// of its pool to the store.
const spareFiles = 30

// restPatienceServer is how long a server is given to come to rest.
const restPatienceServer = 10 * time.Second

func (d *daemon) atRest(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, restPatienceServer)
	defer cancel()
	for {
		now, ok := stage.UsageOf(d.now.Pid())
		if !ok || now.Files <= d.idle.Files+spareFiles {
			return nil
		}
		if !sleep.For(ctx, 100*time.Millisecond) {
			return []string{fmt.Sprintf("the Bedrock server had %d files open at first, and has %d when all "+
				"clients have gone",
				d.idle.Files, now.Files)}
		}
	}
}
