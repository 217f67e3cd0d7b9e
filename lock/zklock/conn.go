package zklock

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/bootclock"
)

// connection is a session with the servers, over one connection after the other. All that the client library gets
// wrong is made good around it: see the comments of link, hosts and session.
type connection struct {
	addresses []string
	opts      *Options
	acl       []zk.ACL

	current    atomic.Pointer[zk.Conn]
	alone      atomic.Int64  // since when, by the boot clock, there is no connection; 0 while there is one
	session    atomic.Int64  // its number; 0 while there is none
	lasting    atomic.Int64  // for how long it lasts when nothing is heard of the client
	generation atomic.Uint64 // counts the connections
	changed    chan struct{} // holds one signal: one of the two has changed
	only       atomic.Uint64 // the connection whose server was found to be the only one
	several    atomic.Uint64 // the one whose server was found to be one of several, or does not say
	opening    *opening      // of the first session

	mu     sync.Mutex
	link   *link // the newest
	failed error // why a server was not reached, the last time that one was not
	closed bool
	gone   <-chan zk.Event // is closed when the library has ended

	dialing context.Context //nolint:containedctx // ends what is being connected
	cancel  context.CancelFunc
}

// openConnection begins to connect. There is a session when a server has answered: see opening.
func openConnection(addresses []string, opts *Options) (*connection, error) {
	c := &connection{addresses: addresses, opts: opts, changed: make(chan struct{}, 1), opening: newOpening()}
	for _, a := range opts.ACL {
		c.acl = append(c.acl, zk.ACL{Perms: int32(a.Perms), Scheme: a.Scheme, ID: a.ID})
	}
	c.dialing, c.cancel = context.WithCancel(context.Background())
	if err := c.start(); err != nil {
		c.cancel()
		return nil, err
	}
	return c, nil
}

// start begins to connect.
func (c *connection) start() error {
	conn, events, err := zk.Connect(c.addresses, c.opts.Session,
		zk.WithDialer(c.dialServer), zk.WithHostProvider(&hosts{inVain: c.opening.endRound}),
		zk.WithEventCallback(c.hearEvent), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return fmt.Errorf("zklock: connect: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = events
	c.current.Store(conn)
	if c.closed { // meanwhile
		go conn.Close()
	}
	return nil
}

// library returns the client library's connection.
func (c *connection) library() *zk.Conn { return c.current.Load() }

// renewIfLost begins another session when there was no connection for longer than the old one can have lasted. The
// library would go on asking for the old one for ever, of servers that have lost their data, and do not take a client
// that has seen more than they have.
func (c *connection) renewIfLost() {
	since := time.Duration(c.alone.Load())
	if since == 0 || !c.opening.isOver() || bootclock.Now()-since < c.lasts() {
		return
	}
	c.session.Store(0)
	c.alone.Store(int64(bootclock.Now()))
	old := c.library()
	c.mu.Lock()
	closed, gone := c.closed, c.gone
	c.mu.Unlock()
	if closed {
		return
	}
	old.Close()
	for range gone { // until the library has ended
	}
	_ = c.start() // it fails of wrong addresses alone, and they were taken before
}

// dialServer connects to a server. The library keeps to itself why that fails.
func (c *connection) dialServer(network, address string, timeout time.Duration) (net.Conn, error) {
	l, err := c.dialOnce(network, address, timeout)
	if err != nil {
		c.enterFailure(err)
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = l
	return l, nil
}

// enterFailure enters why a server was not reached.
func (c *connection) enterFailure(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

func (c *connection) dialOnce(network, address string, timeout time.Duration) (*link, error) {
	ctx, cancel := context.WithTimeout(c.dialing, timeout)
	defer cancel()
	conn, err := c.opts.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if c.opts.TLS != nil {
		if conn, err = encrypt(ctx, conn, address, c.opts.TLS); err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
	}
	l := newLink(conn, c.opts.Session, c.generation.Load() > 0)
	l.credentials = credentialsOf(c.opts)
	l.address, l.tell = address, c.enterFailure
	return l, nil
}

// encrypt makes a connection one of TLS.
func encrypt(ctx context.Context, conn net.Conn, address string, config *tls.Config) (net.Conn, error) {
	if config.ServerName == "" && !config.InsecureSkipVerify {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return encrypted, nil
}

// hearEvent is told by the library what becomes of the connection. It must not block.
func (c *connection) hearEvent(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	switch e.State {
	case zk.StateHasSession:
		number, lasts := c.currentSession()
		c.generation.Add(1) // first: who has seen the new session has not the old connection any more
		c.session.Store(number)
		c.lasting.Store(int64(lasts))
		c.alone.Store(0)
		c.opening.endOpening()
	case zk.StateExpired:
		c.session.Store(0)
	case zk.StateDisconnected:
		c.alone.CompareAndSwap(0, int64(bootclock.Now()))
		return
	default:
		return
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// standsAlone reports whether the server of a connection, which is the present one, is the only one there is. It does
// not become one of several while connections last.
func (c *connection) standsAlone(generation uint64) bool {
	if c.several.Load() == generation {
		return false
	}
	if c.only.Load() != generation {
		data, _, err := c.library().Get(configPath)
		if c.generation.Load() != generation {
			return false
		}
		if err != nil || votersIn(string(data)) > 0 {
			c.several.Store(generation)
			return false
		}
		c.only.Store(generation)
	}
	return c.generation.Load() == generation
}

// currentSession is the number of the session, and for how long it lasts, as the server of the newest connection has
// said. It may say another one without a word of the old one's end.
func (c *connection) currentSession() (number int64, lasts time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link.session()
}

// lasts is how long the session lasts when nothing is heard of the client.
func (c *connection) lasts() time.Duration { return time.Duration(c.lasting.Load()) }

// How long the servers are waited for when the session is ended: before the caller goes on, and at all.
const (
	shortGoodbye = 100 * time.Millisecond
	longGoodbye  = 3 * time.Second
)

// close ends the session. Of servers that do not answer it takes its leave in the background, for a few seconds.
func (c *connection) close() {
	c.cancel()
	c.mu.Lock()
	gone := c.gone
	c.closed = true
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.library().Close()
		late := time.NewTimer(longGoodbye)
		defer late.Stop()
		for {
			select {
			case _, open := <-gone:
				if !open {
					return
				}
			case <-late.C:
				c.breakLink()
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(shortGoodbye):
	}
}

// breakLink closes the newest connection.
func (c *connection) breakLink() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		_ = c.link.Close()
	}
}

// silent is the library's log.
type silent struct{}

// Printf implements zk.Logger.
func (silent) Printf(string, ...any) {}
