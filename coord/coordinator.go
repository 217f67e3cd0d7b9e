package coord

import (
	"context"
	"os"
	"sync"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// Coordinator drives the transactions in a store, together with any others on the
// same store.
type Coordinator struct {
	opts      Options
	store     driver.Store
	owner     string
	modes     map[string]txn.Mode
	callers   map[string]txn.Caller // by scheme
	checker   *check.Checker
	parts     *check.Checker // of what transactions send by messages of their own
	clock     clock
	lanes     *lanes.Lanes
	names     functions
	active    registry
	news      news
	views     views
	recent    *recent
	trouble   trouble
	inherited inherited
	draw      chance.Draw // the random part of pauses

	wake    chan struct{}   // something may be due
	drains  *lanes.Drains   // targets that have recovered
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
	if store == nil {
		return nil, &input.Error{Field: "store", Problem: "is nil"}
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	callers, err := byScheme(o.Callers)
	if err != nil {
		return nil, err
	}
	if o.Replica == "" {
		o.Replica, _ = os.Hostname()
	}
	c := &Coordinator{
		opts: o, store: store,
		owner:   o.Replica + "-" + txn.NewID()[14:],
		modes:   make(map[string]txn.Mode),
		callers: callers,
		checker: check.New(o.Limits),
		parts:   check.New(partLimits(o.Limits)),
		wake:    make(chan struct{}, 1),
		recent:  newRecent(),
		draw:    chance.Of(store),
		drains:  lanes.NewDrains(),
	}
	for _, m := range modes.All() {
		c.modes[m.Name()] = m
	}
	c.lanes = lanes.New(o.PerTarget, o.PerHost, c.draw, c.targetChanged)
	c.active.init(o.Active)
	c.trouble.log, c.inherited.log = o.Logger, o.Logger
	c.life, c.stop = context.WithCancel(context.Background())
	c.calls, c.giveUp = context.WithCancel(context.Background())
	return c, nil
}

// Register makes a Go function a participant. Every coordinator on the store that
// is to call it must register it.
func (c *Coordinator) Register(name string, f txn.Func) error {
	return c.names.add(name, f)
}
