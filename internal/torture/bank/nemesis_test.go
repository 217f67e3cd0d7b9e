//go:build unix

package bank_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// fault is something that is done to a cell while money is on its way.
type fault struct {
	name string
	// strike does it, makes sure that it has happened, and repairs it.
	strike func() error
}

// window is the time of a fault, until everything was there again.
type window struct {
	name           string
	struck, healed time.Time
}

// faults lists what is done to the cell.
func (c *cell) faults() []fault {
	list := []fault{
		{"replica killed", func() error { return c.killAndStart(c.anyReplica()) }},
		{"replica paused", c.pauseReplica},
		{"service killed", func() error { return c.killAndStart(c.service) }},
	}
	if c.backend.kill != nil {
		list = append(list, fault{"store killed", c.killStore}, fault{"store paused", c.pauseStore})
	}
	return list
}

func (c *cell) anyReplica() *process { return c.replicas[rand.IntN(len(c.replicas))] }

func (c *cell) killAndStart(p *process) error {
	if err := p.kill(); err != nil {
		return err
	}
	if p.answers(time.Second) {
		return fmt.Errorf("%s answered after it was killed", p.settings.Name)
	}
	return p.start()
}

// pauseReplica stops a coordinator for longer than its lease. Where there is
// another one, this takes over what the first had begun, and the first has to be
// refused when it goes on. A pause that met a replica without work is made again.
func (c *cell) pauseReplica() error {
	p := c.anyReplica()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if len(c.replicas) == 1 {
		return p.pause(func() error { sleep.For(ctx, lease*3/2); return nil })
	}
	before := countEvidence(p.settings.Evidence, fenced)
	for pauses := 1; ; pauses++ {
		if err := p.pause(func() error { return c.takenOver(ctx, p) }); err != nil {
			return fmt.Errorf("pause %d: %w", pauses, err)
		}
		refused, cancel := context.WithTimeout(ctx, lease)
		err := until(refused, func() bool { return countEvidence(p.settings.Evidence, fenced) > before })
		cancel()
		if err == nil {
			return nil
		}
	}
}

// takenOver waits until what a paused replica works on is another one's. If it works
// on nothing there is nothing to wait for.
func (c *cell) takenOver(ctx context.Context, p *process) error {
	held, err := c.heldBy(ctx, p)
	if err != nil || len(held) == 0 {
		return err
	}
	return until(ctx, func() bool {
		now, err := c.heldBy(ctx, p)
		return err == nil && !slices.ContainsFunc(held, func(id string) bool { return slices.Contains(now, id) })
	})
}

// heldBy lists what a replica works on, as the store has it.
func (c *cell) heldBy(ctx context.Context, p *process) ([]string, error) {
	records, err := unfinished(ctx, c.store)
	var held []string
	for _, rec := range records {
		if strings.HasPrefix(rec.Owner, p.settings.Name+"-") {
			held = append(held, rec.ID)
		}
	}
	return held, err
}

func (c *cell) killStore() error {
	c.backend.kill()
	err := c.storeIsAway()
	c.backend.restart()
	return err
}

func (c *cell) pauseStore() error {
	c.backend.pause()
	err := c.storeIsAway()
	sleep.For(context.Background(), 500*time.Millisecond)
	c.backend.resume()
	return err
}

// storeIsAway makes sure that the store does not answer.
func (c *cell) storeIsAway() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return until(ctx, func() bool {
		ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		_, err := c.store.List(ctx, driver.Query{Limit: 1, Brief: true})
		return err != nil
	})
}

// nemesis does all planned faults, in any order, and then goes on until the time
// is up. Each waits until there was some traffic since the one before.
func (c *cell) nemesis(length time.Duration) []window {
	end := time.Now().Add(length)
	var windows []window
	for round := 0; round == 0 || time.Now().Before(end); round++ {
		plan := c.faults()
		rand.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
		for _, f := range plan {
			w, ok := c.strike(f)
			if !ok {
				return windows
			}
			windows = append(windows, w)
		}
	}
	return windows
}

// strike does one fault while transfers are under way.
func (c *cell) strike(f fault) (window, bool) {
	const between = 20 // transfers
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	since := c.ended.Load()
	if err := until(ctx, func() bool { return c.ended.Load() >= since+between && c.underWay.Load() > 0 }); err != nil {
		c.t.Errorf("%s: too little traffic before it: %d transfers", f.name, c.ended.Load()-since)
		return window{}, false
	}
	w := window{name: f.name, struck: time.Now()}
	if err := f.strike(); err != nil {
		c.t.Errorf("inconclusive: %s: %v", f.name, err)
		return window{}, false
	}
	w.healed = time.Now()
	return w, true
}
