package txns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/replicas"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// run is the controller of one run.
type run struct {
	*Plan

	random   *rand.Rand
	host     *stage.Host
	scene    *scene
	book     *history.Writer
	service  *member
	replicas []*member
}

// member is a process as the controller sees it.
type member struct {
	job

	lives   int
	process *stage.Worker
	front   *chaos.Proxy // the way to it
	back    *chaos.Proxy // its way to the store; nil where there are none
	idle    stage.Usage
}

// url is where others reach it.
func (m *member) url() string { return address(m.front.Addr()) }

// Run tortures, and judges what was seen.
func Run(ctx context.Context, p *Plan) (*audit.Report, error) {
	r := &run{Plan: p, random: rand.New(rand.NewPCG(p.Seed, 1)), host: stage.NewHost(filepath.Join(p.Dir, "servers"))}
	defer r.host.Close()
	if err := r.setUp(); err != nil {
		return nil, err
	}
	err := r.playOut(ctx)
	if err = errors.Join(err, r.book.Close()); err != nil {
		return nil, err
	}
	return Judge(p.Dir)
}

func (r *run) setUp() (err error) {
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	if r.book, err = history.Create(r.Dir, controller); err != nil {
		return err
	}
	if r.scene, err = r.build(r.host); err != nil {
		return err
	}
	if r.service, err = r.enlist(roleService, "service"); err != nil {
		return err
	}
	r.service.Accounts = filepath.Join(r.Dir, "accounts.db")
	for i := range r.scene.replicas {
		m, err := r.enlist(roleReplica, fmt.Sprintf("replica%d", i+1))
		if err != nil {
			return err
		}
		m.Service, m.Lease, m.Store = r.service.url(), lease, r.scene.url
		if r.scene.addr != "" {
			if m.back, err = r.proxy(r.scene.addr); err != nil {
				return err
			}
			m.Store = stage.Through(r.scene.url, m.back.Addr())
		}
		r.replicas = append(r.replicas, m)
		r.service.Replicas = append(r.service.Replicas, m.url())
	}
	return nil
}

func (r *run) proxy(addr string) (*chaos.Proxy, error) {
	p, err := chaos.New(addr)
	if err == nil {
		r.host.Cleanup(func() { _ = p.Close() })
	}
	return p, err
}

// enlist gives a process an address, and a way to it.
func (r *run) enlist(role, name string) (*member, error) {
	addr, err := stage.FreeAddr()
	if err != nil {
		return nil, err
	}
	m := &member{job: job{Role: role, Name: name, Dir: r.Dir, Addr: addr, Seed: r.random.Uint64()}}
	m.front, err = r.proxy(addr)
	return m, err
}

// controller is the name of the history of the controller.
const controller = "controller"

func (r *run) add(e *event) {
	if e.At == 0 {
		e.At = history.Now()
	}
	r.book.Add(e)
}

// start starts the next life of a process, and waits until it answers.
func (r *run) start(ctx context.Context, m *member) (err error) {
	m.lives++
	m.Life = fmt.Sprintf("%s.%d", m.Name, m.lives)
	if m.process, err = r.Program.Start(ctx, m.job, r.Dir, m.Name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !answers(ctx, m.Addr) {
		if m.process.Ended() {
			return fmt.Errorf("%s ended with code %d; see %s.log", m.Name, m.process.Code(), m.Name)
		}
		if !sleep.For(ctx, 20*time.Millisecond) {
			return fmt.Errorf("%s does not answer", m.Name)
		}
	}
	m.idle, _ = stage.UsageOf(m.process.Pid())
	return nil
}

// answers reports whether a process says anything, good or bad.
func answers(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return stage.HealthOf(ctx, address(addr)) != 0
}

func (r *run) members() []*member { return append([]*member{r.service}, r.replicas...) }

// playOut lets the money flow, breaks things, and lets all come to rest.
func (r *run) playOut(ctx context.Context) error {
	r.add(&event{Kind: kindBegin, Plan: &r.scene.settings})
	defer func() {
		for _, m := range r.members() {
			if m.process != nil {
				m.process.Kill()
			}
		}
	}()
	for _, m := range r.members() {
		if err := r.start(ctx, m); err != nil {
			return err
		}
	}
	t, giveUp, err := r.open()
	if err != nil {
		return err
	}
	defer t.close()
	end := time.Now().Add(r.For)
	flowing, dam := context.WithDeadline(ctx, end)
	defer dam()
	clients := t.clients(flowing)
	sampling, enough := context.WithCancel(ctx)
	var sampler sync.WaitGroup
	sampler.Go(func() { r.sample(sampling) })
	sleep.For(ctx, warmUp)
	r.harass(ctx, end.Add(-coolDown))
	r.add(&event{Kind: kindCalm})
	waiting := time.AfterFunc(time.Until(end)+bound, giveUp)
	clients.Wait()
	waiting.Stop()
	enough()
	sampler.Wait()
	r.waitQuiet(ctx, t)
	r.atRest(ctx, t)
	return errors.Join(r.close(context.WithoutCancel(ctx)), ctx.Err())
}

func (r *run) open() (t *traffic, giveUp func(), err error) {
	var urls []string
	for _, m := range r.replicas {
		urls = append(urls, m.url())
	}
	t = &traffic{run: r, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: r.Clients}}}
	if t.co, err = dialReplicas(urls); err != nil {
		return nil, nil, err
	}
	if t.hasty, err = replicas.Dial(urls, replicas.Options{Patience: -1, Each: perReplica}); err != nil {
		return nil, nil, err
	}
	if t.calls, err = httpcall.New(nil); err != nil {
		return nil, nil, err
	}
	t.waiting, giveUp = context.WithCancel(context.Background())
	return t, giveUp, nil
}

// close closes connections that are not in use.
func (t *traffic) close() {
	t.co.Close()
	t.hasty.Close()
	t.calls.Close()
	t.http.CloseIdleConnections()
}

func (r *run) harass(ctx context.Context, end time.Time) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	s := nemesis.Schedule{
		Faults: slices.Concat(r.processFaults(), r.linkFaults(), r.serviceFaults(), r.diskFaults(), r.scene.faults),
		Random: r.random, Rest: time.Second, Tell: r.reportWindow,
	}
	s.Run(ctx)
}

func (r *run) reportWindow(w nemesis.Window) {
	r.add(&event{Kind: kindFault, Window: &w})
	text := w.Effect.Evidence
	if w.Problem != "" {
		text = w.Problem
	}
	fmt.Fprintf(r.Progress, "%s: %s\n", w.Kind, text)
}

// waitQuiet waits until nothing is on its way any more: also what nobody waits for.
func (r *run) waitQuiet(ctx context.Context, t *traffic) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		left := -1
		_ = t.co.Ask(ctx, func(ctx context.Context, c *client.Client) error {
			page, err := c.List(ctx, txn.Query{Status: unfinished(), Limit: 10})
			left = len(page.Transactions)
			return err
		})
		if left == 0 || !sleep.For(ctx, 100*time.Millisecond) {
			return
		}
	}
}

func unfinished() []driver.Status {
	return []driver.Status{driver.Open, driver.Running, driver.Committing, driver.RollingBack}
}

// close ends all processes, and writes down what is in the books then.
func (r *run) close(ctx context.Context) error {
	var failed error
	for _, m := range append(slices.Clone(r.replicas), r.service) {
		if err := m.process.Dismiss(patience); err != nil {
			r.add(&event{Kind: kindDoubt, Text: fmt.Sprintf("%s: %v", m.Life, err)})
		}
	}
	failed = errors.Join(r.readRecords(ctx), r.readAccounts(ctx))
	r.add(&event{Kind: kindFinish})
	return failed
}

func (r *run) readAccounts(ctx context.Context) error {
	a, err := openAccounts(ctx, r.service.Accounts)
	if err != nil {
		return err
	}
	return errors.Join(a.read(ctx, r.add), a.DB.Close())
}

// readRecords writes down every transaction as the store has it.
func (r *run) readRecords(ctx context.Context) error {
	location, err := storeurl.Parse(r.scene.url)
	if err != nil {
		return err
	}
	store, err := location.Open(ctx, &storeurl.Options{AllowVolatile: true})
	if err != nil {
		return err
	}
	q := driver.Query{Limit: 1000, Brief: true}
	for {
		page, err := store.List(ctx, q)
		if err != nil || len(page) == 0 {
			return errors.Join(err, store.Close())
		}
		for _, rec := range page {
			r.add(&event{
				Kind: kindRecord, ID: rec.ID, Mode: rec.Mode, Result: rec.Status, Parked: rec.Parked, Epoch: rec.Epoch,
			})
		}
		q.Before = page[len(page)-1].Cursor()
	}
}
