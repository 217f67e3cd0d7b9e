package etcdlock

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// New returns a client of locks in etcd. The client it is given stays its owner's, and open.
func New(client *clientv3.Client, opts *Options) (*lock.Client, error) {
	b, err := NewBackend(client, opts)
	if err != nil {
		return nil, err
	}
	var front lock.Options
	if opts != nil {
		front = opts.Lock
	}
	locks, err := lock.New(b, &front)
	if err != nil {
		_ = b.Close()
		return nil, err
	}
	return locks, nil
}

// NewBackend returns a backend on etcd.
func NewBackend(client *clientv3.Client, opts *Options) (driver.Backend, error) {
	if client == nil {
		return nil, &input.Error{Field: "client", Problem: "is nil"}
	}
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	b := &backend{
		client: client, layout: newLayout(&filled), leases: newLeases(client), latches: newLatches(),
		lines: make(map[string]*line),
	}
	b.life, b.end = context.WithCancel(context.Background())
	b.grants = newLedger(b.endEntry)
	return b, nil
}

// backend is one client of the store.
type backend struct {
	client  *clientv3.Client
	layout  layout
	leases  *leases
	grants  *ledger
	latches *latches
	tell    func(driver.Grant) // nil where nobody may be granted anything unasked
	note    func(driver.Message)

	life context.Context //nolint:containedctx // that of the backend itself
	end  context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	lines  map[string]*line // by name
	closed bool
}

var (
	_ driver.Backend    = (*backend)(nil)
	_ driver.Waiter     = (*backend)(nil)
	_ driver.Resumer    = (*backend)(nil)
	_ driver.Successor  = (*backend)(nil)
	_ driver.TurnWaiter = (*backend)(nil)
	_ driver.Notifier   = (*backend)(nil)
	_ driver.Inspector  = (*backend)(nil)
	_ driver.Forcer     = (*backend)(nil)
	_ driver.Checker    = (*backend)(nil)
	_ driver.Identifier = (*backend)(nil)
	_ driver.Annotator  = (*backend)(nil)
	_ driver.Bundler    = (*backend)(nil)
	_ driver.Latches    = (*backend)(nil)
	_ driver.Downgrader = (*backend)(nil)
)

// Inherit implements [driver.Successor].
func (b *backend) Inherit(tell func(driver.Grant)) { b.tell = tell }

// Notify implements [driver.Notifier]. Of what others do only the end of a grant is told, by the deletion of its key,
// and only while somebody of this client waits for the lock: the other keys of a lock are not watched.
func (b *backend) Notify(tell func(driver.Message)) { b.note = tell }

// closingTime is how long closing may take to end what nobody needs; it ends by itself.
const closingTime = 200 * time.Millisecond

// Close implements [driver.Backend]. Leases by which nothing is kept are ended, the others run out.
func (b *backend) Close() error {
	b.mu.Lock()
	closed := b.closed
	b.closed = true
	b.mu.Unlock()
	b.end()
	b.work.Wait()
	if closed {
		return nil
	}
	b.grants.book.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closingTime)
	defer cancel()
	var group sync.WaitGroup
	for _, l := range b.leases.inUse() {
		if !b.grants.keepsFrom(l) {
			group.Go(func() { b.leases.revoke(ctx, l) })
		}
	}
	group.Wait()
	return nil
}
