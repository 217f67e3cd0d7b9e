package coord

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Coordinator drives the transactions in a store, together with any others on the
// same store.
type Coordinator struct {
	opts      Options
	store     driver.Store
	owner     string
	modes     map[string]txn.Mode
	checker   *plan.Checker
	clock     clock
	lanes     *lanes
	names     functions
	active    registry
	news      news
	views     views
	recent    *recent
	trouble   trouble
	inherited inherited
	draw      chance.Draw // the random part of pauses

	wake    chan struct{}   // something may be due
	drains  drains          // targets that have recovered
	life    context.Context //nolint:containedctx // ends when Stop begins
	stop    context.CancelFunc
	calls   context.Context //nolint:containedctx // ends when calls under way are given up
	giveUp  context.CancelFunc
	calling sync.WaitGroup // calls, also those that no run waits for any more
	work    sync.WaitGroup
	started sync.Once
}

var (
	_ txn.Coordinator = (*Coordinator)(nil)
	_ txn.Inspector   = (*Coordinator)(nil)
	_ txn.Operator    = (*Coordinator)(nil)
	_ txn.Topics      = (*Coordinator)(nil)
)

// New makes a coordinator on a store. Register functions, then Start it. The store
// stays its caller's to close, after Stop.
func New(store driver.Store, opts *Options) (*Coordinator, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Replica == "" {
		o.Replica, _ = os.Hostname()
	}
	c := &Coordinator{
		opts: o, store: store,
		owner:   o.Replica + "-" + NewID()[14:],
		modes:   make(map[string]txn.Mode),
		checker: plan.NewChecker(o.Limits),
		wake:    make(chan struct{}, 1),
		recent:  newRecent(),
		draw:    chance.Of(store),
	}
	for m := range modes() {
		c.modes[m.Name()] = m
	}
	c.lanes = newLanes(o.PerTarget, o.PerHost, c.draw, c.laneChanged)
	c.active.init(o.Active)
	c.drains.init()
	c.trouble.log, c.inherited.log = o.Logger, o.Logger
	c.life, c.stop = context.WithCancel(context.Background())
	c.calls, c.giveUp = context.WithCancel(context.Background())
	return c, nil
}

// Start reads the store's clock and begins to take over what is due. It may be
// called once.
func (c *Coordinator) Start(ctx context.Context) error {
	if c.life.Err() != nil {
		return txn.ErrClosed
	}
	// A claim of nothing: the target cannot exist, so only the clock comes back.
	asked := time.Now()
	claimed, err := c.store.Claim(ctx, driver.Claim{Owner: c.owner, Lease: c.opts.Lease, Limit: 1, Target: " "})
	if err != nil {
		return fmt.Errorf("start coordinator: %w", err)
	}
	c.clock.set(claimed.Now, asked)
	c.started.Do(func() {
		c.opts.Logger.Info("coordinator has started", "owner", c.owner)
		c.work.Go(c.recover)
		c.work.Go(c.probeLanes)
		for range c.opts.Claimers {
			c.work.Go(c.drainLanes)
		}
		if c.opts.Retention.Keep > 0 {
			c.work.Go(c.retain)
		}
	})
	return nil
}

// Stop hands over what is under way, so that other coordinators can take it up at
// once. Calls to participants are broken off. It returns when nothing of the
// coordinator runs any more but functions that have not minded that for a second,
// or with an error when ctx ends before; then the leases of what is left run out by
// themselves.
func (c *Coordinator) Stop(ctx context.Context) error {
	if c.life.Err() == nil {
		c.opts.Logger.Info("coordinator stops; others take up what it drives", "owner", c.owner, "transactions", c.active.len())
	}
	c.stop()
	done := make(chan struct{})
	go func() {
		c.active.close()
		c.work.Wait()
		c.lastCalls()
		c.views.close()
		close(done)
	}()
	select {
	case <-done:
		c.giveUp()
		return nil
	case <-ctx.Done():
		c.giveUp()
		return fmt.Errorf("stop coordinator: %w", ctx.Err())
	}
}

// lastCalls waits for calls that were broken off and that no run waits for, because it
// was overtaken or gave them up: whoever stops is about to close what they use.
func (c *Coordinator) lastCalls() {
	ended := make(chan struct{})
	go func() {
		c.calling.Wait()
		close(ended)
	}()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	}
}

// Register makes a Go function a participant. Every coordinator on the store that
// is to call it must register it.
func (c *Coordinator) Register(name string, f txn.Func) error {
	return c.names.add(name, f)
}

// ready refuses work before Start and after Stop.
func (c *Coordinator) ready() error {
	switch {
	case c.life.Err() != nil:
		return txn.ErrClosed
	case c.clock.reading.Load() == nil:
		return errors.New("coordinator is not started")
	default:
		return nil
	}
}

// Nudge looks for due transactions now instead of at the next poll, for instance
// for one that SubmitTx has created, once that is committed.
func (c *Coordinator) Nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// laneChanged is told when a target goes down, comes back or recovers.
func (c *Coordinator) laneChanged(name string, t turn) {
	switch {
	case t.opened:
		c.opts.Logger.Warn("target is down; its calls are held back", "target", name)
		c.opts.Observer.Observe(Event{Kind: BreakerOpened, Target: txn.Target(name)})
	case t.closed:
		c.opts.Logger.Info("target is up again", "target", name)
		c.opts.Observer.Observe(Event{Kind: BreakerClosed, Target: txn.Target(name)})
	case t.forgotten:
		c.opts.Logger.Info("nothing waits any more for a target that was down", "target", name)
		c.opts.Observer.Observe(Event{Kind: BreakerClosed, Target: txn.Target(name), Reason: "nothing waits for it"})
	}
	if t.recovered {
		c.drains.add(name)
	}
}

// pause sleeps unless the coordinator stops; it tells whether it may go on.
func (c *Coordinator) pause(d time.Duration) bool { return sleep(c.life, c.life, d) }
