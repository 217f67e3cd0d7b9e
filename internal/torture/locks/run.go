package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/lock"
)

// run is the controller of one run.
type run struct {
	*Plan

	random  *rand.Rand
	host    *stage.Host
	scene   *scene
	book    *history.Writer
	guard   *guard
	direct  *chaos.Proxy // the controller's own way; nil where there are no proxies
	members []*member
	telling sync.Mutex // Progress
}

// member is a worker as the controller sees it.
type member struct {
	name    string
	lives   int
	process *stage.Worker
	proxy   *chaos.Proxy // nil where there are none
	// distance is by how much each of its packets is late all the time.
	distance time.Duration
}

func (m *member) life() string { return fmt.Sprintf("%s.%d", m.name, m.lives) }

// Run tortures, and judges what was seen.
func Run(ctx context.Context, p *Plan) (*audit.Report, error) {
	r := &run{Plan: p, random: rand.New(rand.NewPCG(p.Seed, 1)), host: stage.NewHost(filepath.Join(p.Dir, "servers"))}
	defer r.host.Close()
	if err := r.setUp(ctx); err != nil {
		return nil, err
	}
	defer r.guard.close()
	err := r.playOut(ctx)
	err = errors.Join(err, r.book.Close())
	if err != nil {
		return nil, err
	}
	return Judge(p.Dir)
}

func (r *run) setUp(ctx context.Context) (err error) {
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	if r.book, err = history.Create(r.Dir, controller); err != nil {
		return err
	}
	if r.scene, err = r.build(ctx, r.host); err != nil {
		return err
	}
	r.scene.Prefix = fmt.Sprintf("bedrock-torture:%x:", r.Seed)
	if r.guard, err = newGuard(); err != nil {
		return err
	}
	return r.lay()
}

// lay lays the ways to the backend: one for each worker, and one for the controller.
func (r *run) lay() (err error) {
	r.scene.retarget, r.scene.uneven, r.scene.newcomer = r.retarget, r.uneven, r.newcomer
	workers := r.Workers
	if r.scene.url == "mem:" {
		workers = 1
	}
	for i := range workers {
		m := &member{name: fmt.Sprintf("w%d", i+1)}
		r.members = append(r.members, m)
		if r.scene.addr == "" {
			continue
		}
		if m.proxy, err = chaos.New(r.scene.addr); err != nil {
			return err
		}
		r.host.Cleanup(func() { _ = m.proxy.Close() })
		m.distance = distances()[i%len(distances())]
		m.proxy.Delay(m.distance)
	}
	if r.scene.addr == stage.HostOf(r.scene.url) && r.scene.addr != "" {
		if r.direct, err = chaos.New(r.scene.addr); err != nil {
			return err
		}
		r.host.Cleanup(func() { _ = r.direct.Close() })
		r.scene.url = stage.Through(r.scene.url, r.direct.Addr())
	}
	return nil
}

// distances are how far workers are from the backend: each of their packets takes that
// much longer.
func distances() []time.Duration {
	return []time.Duration{0, 0, time.Millisecond, 5 * time.Millisecond}
}

func (r *run) retarget(addr string) {
	for _, m := range r.members {
		m.proxy.Retarget(addr)
	}
	r.direct.Retarget(addr)
}

func (r *run) uneven(most time.Duration) {
	for _, m := range r.members {
		if most > 0 {
			m.proxy.Jitter(most)
			continue
		}
		m.proxy.Heal()
		m.proxy.Delay(m.distance)
	}
}

// controller is the name of the history of the controller.
const controller = "controller"

func (r *run) add(e *event) {
	if e.At == 0 {
		e.At = history.Now()
	}
	r.book.Add(e)
}

func (r *run) anyone(random *rand.Rand) *member { return r.members[random.IntN(len(r.members))] }

// start starts the next life of a worker.
func (r *run) start(ctx context.Context, m *member) (err error) {
	m.lives++
	j := job{
		Worker: m.name, Life: m.life(), Seed: r.random.Uint64(), Dir: r.Dir, Guard: r.guard.addr(),
		Prefix: r.scene.Prefix,
		Hands:  r.Hands, Keepers: max(r.Keepers/r.scene.burden, 1),
		TTL: shortTTL, Long: longTTL, HandOff: handOff(r.random),
		Pair: fmt.Sprintf("pair/%d", slices.Index(r.members, m)/2),
	}
	if r.scene.libraries[0] == viaServer {
		j.Server = r.scene.front
	}
	if r.scene.Mixed {
		j.Kin = fleet()[slices.Index(r.members, m)%len(fleet())]
	}
	for _, library := range r.scene.libraries {
		url := r.scene.front
		if m.proxy != nil {
			url = stage.Through(url, m.proxy.Addr())
		}
		j.Clients = append(j.Clients, target{URL: url, Library: library, Older: j.Kin == old})
	}
	m.process, err = r.Program.Start(ctx, j, r.Dir, m.name)
	return err
}

// handOff draws a budget, often at its limits.
func handOff(random *rand.Rand) lock.HandOff {
	all := []lock.HandOff{
		{},
		{Count: -1},
		{Count: 1},
		{Count: 2},
		{Count: 65536},
		{Count: 65536, Time: 100 * time.Millisecond},
		{Time: time.Millisecond},
	}
	return all[random.IntN(len(all))]
}

// playOut lets the workers work, breaks things, and lets all come to rest.
func (r *run) playOut(ctx context.Context) error {
	r.add(&event{Kind: kindBegin, Plan: &r.scene.settings})
	for _, m := range r.members {
		if err := r.start(ctx, m); err != nil {
			return err
		}
	}
	defer r.killAll()
	watch, err := r.watchBackend()
	if err != nil {
		return err
	}
	end := time.Now().Add(r.For)
	sleep.For(ctx, warmUp)
	r.harass(ctx, end.Add(-coolDown))
	sleep.For(ctx, time.Until(end))
	r.dismiss()
	watch()
	r.lookAround(context.WithoutCancel(ctx))
	r.add(&event{Kind: kindFinish, N: r.guard.writes()})
	return ctx.Err()
}

// harass does faults until a time.
func (r *run) harass(ctx context.Context, end time.Time) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	s := nemesis.Schedule{
		Faults: slices.Concat(r.workerFaults(), r.linkFaults(), r.forceFaults(), r.scene.faults),
		Random: r.random, Rest: 800 * time.Millisecond, Tell: r.reportWindow,
	}
	s.Run(ctx)
}

func (r *run) reportWindow(w nemesis.Window) {
	r.add(&event{Kind: kindFault, Window: &w})
	text := w.Effect.Evidence
	if w.Problem != "" {
		text = w.Problem
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	fmt.Fprintf(r.Progress, "%s: %s\n", w.Kind, text)
}

// dismissPatience is how long a worker is given to come to its end.
const dismissPatience = 15 * time.Second

func (r *run) dismiss() {
	var all sync.WaitGroup
	for _, m := range r.members {
		all.Go(func() {
			life := m.life()
			if err := m.process.Dismiss(dismissPatience); err != nil {
				r.add(&event{Kind: kindKill, Text: life, Class: classFailed})
				r.add(&event{Kind: kindDoubt, Text: fmt.Sprintf("%s: %v", life, err)})
			}
		})
	}
	all.Wait()
}

func (r *run) killAll() {
	for _, m := range r.members {
		if m.process != nil {
			m.process.Kill()
		}
	}
}
