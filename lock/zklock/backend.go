package zklock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/tenure"
)

// Connect returns a client whose locks are in the ensemble of those servers, such as "a:2181", "b:2181",
// "c:2181/app". It has a connection and a session of its own, which end with Stop. It returns when a server has
// answered.
func Connect(ctx context.Context, servers []string, opts *Options) (*lock.Client, error) {
	b, err := connectBackend(ctx, servers, opts)
	if err != nil {
		return nil, err
	}
	locks, err := lock.New(b, &b.opts.Lock)
	if err != nil {
		_ = b.Close()
	}
	return locks, err
}

// NewBackend returns the backend alone, to combine it with others.
func NewBackend(ctx context.Context, servers []string, opts *Options) (driver.Backend, error) {
	return connectBackend(ctx, servers, opts)
}

// OpenBackend returns the backend before a server has answered: until one has, requests are unavailable. What the
// servers allow is not looked at: a lease for which they have no session is refused when it is asked for.
func OpenBackend(servers []string, opts *Options) (driver.Backend, error) {
	return newBackend(servers, opts)
}

// backend implements the driver interfaces in one session.
type backend struct {
	conn    *connection
	opts    Options
	layout  layout
	book    *tenure.Book[*place]
	hub     *hub
	inherit func(driver.Grant)   // set before the first request
	note    func(driver.Message) // set before the first request
	warned  limiter

	mu       sync.Mutex
	places   map[string]*place        // as in the book
	standing map[string]*place        // by the names of the locks
	asking   map[string]chan struct{} // by the keys of places: is closed when the request has ended
	released recent

	background context.Context //nolint:containedctx // ends what goes on between calls
	stop       context.CancelFunc
	work       sync.WaitGroup
}

var (
	_ driver.Backend   = (*backend)(nil)
	_ driver.Waiter    = (*backend)(nil)
	_ driver.Resumer   = (*backend)(nil)
	_ driver.Successor = (*backend)(nil)
	_ driver.Notifier  = (*backend)(nil)
	_ driver.Annotator = (*backend)(nil)
	_ driver.Inspector = (*backend)(nil)
	_ driver.Forcer    = (*backend)(nil)
	_ driver.Pleader   = (*backend)(nil)
	_ driver.Checker   = (*backend)(nil)

	_ driver.Downgrader = (*backend)(nil)
)

// connectBackend returns a backend when a server has answered, if that allows the leases of the options.
func connectBackend(ctx context.Context, servers []string, opts *Options) (*backend, error) {
	b, err := newBackend(servers, opts)
	if err != nil {
		return nil, err
	}
	if err = b.conn.awaitSession(ctx); err == nil {
		err = b.checkTTL(b.opts.Lock.TTL)
	}
	if err != nil {
		_ = b.Close()
		return nil, fmt.Errorf("zklock: %w", err)
	}
	return b, nil
}

func newBackend(servers []string, opts *Options) (*backend, error) {
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	addresses, chroot, err := parseServers(servers)
	if err != nil {
		return nil, err
	}
	b := &backend{
		opts: filled, layout: layout{base: chroot + filled.Root, profile: filled.Profile},
		places: make(map[string]*place), standing: make(map[string]*place),
		asking: make(map[string]chan struct{}),
	}
	if b.conn, err = openConnection(addresses, &b.opts); err != nil {
		return nil, err
	}
	b.background, b.stop = context.WithCancel(context.Background())
	b.book = tenure.New(b.endPlace)
	b.hub = newHub(b)
	b.work.Go(b.followSession)
	return b, nil
}

// checkTTL refuses a lease that would live for longer than the session vouches for.
func (b *backend) checkTTL(ttl time.Duration) error {
	session := b.conn.lasts()
	if most := longestLease(session); ttl > most {
		return fmt.Errorf("%w: a lease of %s in a session of %s, which is for %s at most: "+
			"ask for shorter leases (TTL), or for a longer Session, if maxSessionTimeout of the servers allows it",
			driver.ErrRefused, ttl, session, most)
	}
	return nil
}

// Close implements [driver.Backend]: it ends the session, and with it all that the client has.
func (b *backend) Close() error {
	b.mu.Lock()
	clear(b.places)
	clear(b.standing)
	b.mu.Unlock()
	b.stop()
	b.book.Close()
	b.conn.close()
	b.work.Wait()
	return nil
}

// Inherit implements [driver.Successor].
func (b *backend) Inherit(tell func(driver.Grant)) { b.inherit = tell }

// Notify implements [driver.Notifier].
func (b *backend) Notify(tell func(driver.Message)) { b.note = tell }

// followSession sees to what has changed when there is another connection, or session.
func (b *backend) followSession() {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-b.conn.changed:
		case <-look.C:
			b.conn.renewIfLost()
			continue
		case <-b.background.Done():
			return
		}
		b.loseFormer()
		if b.conn.session.Load() != 0 {
			b.lookAgain()
		}
		b.hub.wakeEverybody()
	}
}

// loseFormer takes all places of sessions that are over.
func (b *backend) loseFormer() {
	b.mu.Lock()
	var lost []*place
	for _, p := range b.places {
		if p.session != 0 && p.session != b.conn.session.Load() {
			lost = append(lost, p)
		}
	}
	b.mu.Unlock()
	for _, p := range lost {
		b.losePlace(p)
	}
}

// lookAgain has all places looked at anew: while there was no connection, anything may have happened.
func (b *backend) lookAgain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.places {
		p.lookAgain()
	}
}

// inSession runs a call that the library does not end with ctx.
func inSession[T any](ctx context.Context, b *backend, call func() (T, error)) (none T, err error) {
	if err := ctx.Err(); err != nil {
		return none, notSent(err)
	}
	if b.background.Err() != nil {
		return none, fmt.Errorf("zklock: %w: closed", driver.ErrUnavailable)
	}
	if err := b.conn.awaitRound(ctx); err != nil {
		return none, err
	}
	result, err := driver.Await(ctx, call)
	if errors.Is(err, zk.ErrNoServer) {
		err = fmt.Errorf("%w%s", err, b.conn.whyUnreached())
	}
	return result, err
}

// children lists the nodes in a folder, in the order in which they have the lock.
func (b *backend) children(path string, r recipe) ([]string, *zk.Stat, error) {
	nodes, stat, err := b.conn.library().Children(path)
	if err != nil {
		return nil, nil, lacking(mayRead, path, err)
	}
	r.sortNodes(nodes)
	return nodes, stat, nil
}
