package redislock

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// New returns a client whose locks are on the Redis behind conn. It makes no
// call; with a Logger in opts the first one that reaches the server also examines its
// settings, and logs those that make locks unsafe.
//
// The Redis client wrapped in conn stays the caller's: Stop leaves it open.
func New(conn redisconn.Conn, opts *Options) (*lock.Client, error) {
	b, err := newBackend(conn, opts)
	if err != nil {
		return nil, err
	}
	return lock.New(b, &b.opts.Lock)
}

// NewBackend returns the backend alone, to combine it with others.
func NewBackend(conn redisconn.Conn, opts *Options) (driver.Backend, error) {
	return newBackend(conn, opts)
}

// backend implements the driver interfaces on one Redis.
type backend struct {
	conn    redisconn.Conn
	opts    Options
	scripts scripts
	layout  layout
	hub     *hub
	heirs   *heirs // nil where no lock is passed on
	inbox   *inbox // nil where nothing is told to clients
	// Where one server has all names, what several goroutines want at once is
	// asked for in one call; nil elsewhere.
	acquiring, releasing *batcher

	tokenTTL string // in the words of the scripts
	ttlText  atomic.Pointer[ttlText]
	replicas replicaCounts
	pubsub   publishing
	checked  atomic.Bool

	background context.Context //nolint:containedctx // ends what goes on between calls
	stop       context.CancelFunc
	work       sync.WaitGroup
}

var (
	_ driver.Backend    = (*backend)(nil)
	_ driver.Waiter     = (*backend)(nil)
	_ driver.Resumer    = (*backend)(nil)
	_ driver.Successor  = (*backend)(nil)
	_ driver.TurnWaiter = (*backend)(nil)
	_ driver.Notifier   = (*backend)(nil)
	_ driver.Attender   = (*backend)(nil)
	_ driver.Sharder    = (*backend)(nil)
	_ driver.Bundler    = (*backend)(nil)
	_ driver.Annotator  = (*backend)(nil)
	_ driver.Downgrader = (*backend)(nil)
	_ driver.Latches    = (*backend)(nil)
	_ driver.Inspector  = (*backend)(nil)
	_ driver.Forcer     = (*backend)(nil)
	_ driver.Pleader    = (*backend)(nil)
	_ driver.Checker    = (*backend)(nil)
	_ driver.Identifier = (*backend)(nil)
)

func newBackend(conn redisconn.Conn, opts *Options) (*backend, error) {
	if err := redisconn.CheckKeeps(conn); err != nil {
		return nil, fmt.Errorf("redislock: %w", err)
	}
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	b := &backend{
		conn: conn, opts: filled, scripts: redissonScripts(filled.Semaphores), layout: redissonLayout(), tokenTTL: "0",
	}
	if filled.Profile == Redlock {
		b.scripts, b.layout = redlockScripts(), redlockLayout()
	}
	if filled.TokenTTL != -1 {
		b.tokenTTL = milliseconds(max(filled.TokenTTL, lock.MaxTTL))
	}
	if filled.Profile == Redisson && !conn.Cluster() {
		b.acquiring = newBatcher(conn, b.scripts.acquire, b.tokenTTL)
		b.releasing = newBatcher(conn, b.scripts.release, "PUBLISH")
	}
	b.background, b.stop = context.WithCancel(context.Background())
	b.hub = newHub(conn, b.background, &b.work)
	if filled.Profile == Redisson {
		b.inbox = newInbox(b.hub)
	}
	if filled.Profile == Redisson && !conn.Cluster() && filled.Acks == AcksNone {
		b.heirs = newHeirs(b.hub)
		b.inbox.heirs = b.heirs
	}
	return b, nil
}

// Close implements [driver.Backend]. It ends subscriptions and waits for every
// goroutine of the backend.
func (b *backend) Close() error {
	b.stop()
	b.hub.close()
	if b.acquiring != nil {
		b.acquiring.close()
		b.releasing.close()
	}
	b.work.Wait()
	return nil
}

// shardSlots is how many neighbouring slots make a shard. Clusters hand out
// slots in long runs, so few shards lie on two servers.
const shardSlots = 256

// Shard implements [driver.Sharder].
func (b *backend) Shard(name string) int {
	if !b.conn.Cluster() {
		return 0
	}
	return redisconn.Slot(name) / shardSlots
}

// ttlText remembers the last lease length as text, since most are alike.
type ttlText struct {
	ttl  time.Duration
	text string
}

func (b *backend) leaseText(ttl time.Duration) string {
	if last := b.ttlText.Load(); last != nil && last.ttl == ttl {
		return last.text
	}
	text := milliseconds(ttl)
	b.ttlText.Store(&ttlText{ttl, text})
	return text
}

// milliseconds rounds up: a lease must not end before its holder thinks it does.
func milliseconds(d time.Duration) string {
	ms := d.Milliseconds()
	if d%time.Millisecond > 0 {
		ms++
	}
	return strconv.FormatInt(max(ms, 1), 10)
}

// checkRequest refuses what this backend lacks.
func (b *backend) checkRequest(req *driver.Request) error {
	if err := b.checkSupported(req); err != nil {
		return fmt.Errorf("redislock: acquire %q: %w", req.Name, err)
	}
	if err := driver.Refused(driver.CheckOwner(req.Owner)); err != nil {
		return fmt.Errorf("redislock: acquire %q: %w", req.Name, err)
	}
	if req.Mode == driver.Permit {
		if err := checkPermits(req); err != nil {
			return err
		}
	}
	return checkName(req.Name, b.conn.Cluster())
}

// checkSupported refuses what the layout has no place for.
func (b *backend) checkSupported(req *driver.Request) error {
	if b.opts.Profile == Redlock {
		alone := *req // as if no other server had a part in the lock, of which the layout says nothing
		alone.Above, alone.Age = 0, 0
		return alone.CheckExclusive()
	}
	return nil
}

// handleOf returns the handle of a grant, nil when it has none of its own.
func handleOf(g *driver.Grant) *handle {
	if h, ok := g.Handle.(*handle); ok && h.keys.name == g.Name && h.last[1] == g.Owner {
		return h
	}
	return nil
}

// checkGrant refuses what can be no grant of ours. One that has come a long way,
// as over the API, may be anything.
func (b *backend) checkGrant(g *driver.Grant) error {
	if handleOf(g) != nil {
		return nil
	}
	if g.Mode != driver.Exclusive && b.opts.Profile == Redlock {
		return fmt.Errorf("%w: mode %s", driver.ErrUnsupported, g.Mode)
	}
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return err
	}
	return checkName(g.Name, b.conn.Cluster())
}
