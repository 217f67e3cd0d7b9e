package lock

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Client gives out locks of one backend. One client per process and backend is
// enough: waiting and renewal are shared among all locks of a client.
//
// A Client is safe for concurrent use.
type Client struct {
	backend    driver.Backend
	successor  driver.Successor  // the backend again, nil if its store passes no lock on
	notified   bool              // of what others want of this client's grants
	downgrader driver.Downgrader // the backend again, nil if a grant to write cannot become one to read
	onlyWrites atomic.Bool       // it has refused to make one such
	missed     atomic.Uint64     // how often it may have missed that
	opts       Options
	meta       string               // what is stored beside a grant
	now        func() time.Duration // the clock by which leases are judged
	draw       chance.Draw          // the random part of pauses

	answers *timelimit.Shared // bounds the wait for one answer
	unlocks *timelimit.Shared // and that to an Unlock, which Stop does not break off

	id     string // the first part of every owner id
	owners atomic.Uint64

	queues  queues
	renewer renewer

	// work counts names in use and background releases. Both belong to the
	// client, not to a caller, and end when background does.
	work       sync.WaitGroup
	unreleased unreleased
	backlog    backlog
	notes      notes
	background context.Context //nolint:containedctx // clean-up outlives every caller's context
	stop       context.CancelFunc
	closed     chan struct{} // since Stop
	closing    sync.Once
	ended      chan struct{} // when nothing is left
	failure    error         // of closing the backend; set before ended is closed
}

// New returns a client of backend, which it owns from then on. Backends have
// constructors of their own that call New; use those.
func New(backend driver.Backend, opts *Options) (*Client, error) {
	if backend == nil {
		return nil, &InvalidError{Field: "backend", Problem: "is nil"}
	}
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{
		backend: backend,
		opts:    filled,
		meta:    driver.EncodeMeta(processMeta(filled.Meta)),
		now:     clockOf(backend),
		draw:    chance.Of(backend),
		id:      newID(),
		closed:  make(chan struct{}),
		ended:   make(chan struct{}),
	}
	ordinary := want{name: "any", mode: driver.Exclusive, ttl: filled.TTL, meta: c.meta}
	if err := ordinary.check(c.id); err != nil {
		return nil, err
	}
	c.background, c.stop = context.WithCancel(context.Background())
	c.answers = timelimit.NewShared(c.background, filled.AnswerTime())
	c.unlocks = timelimit.NewShared(context.Background(), filled.AnswerTime())
	c.queues.init(c)
	c.renewer.init(c)
	if n, ok := backend.(driver.Notifier); ok {
		c.notified = true
		n.Notify(c.hearMessage)
	}
	if s, ok := backend.(driver.Successor); ok {
		c.successor = s
		s.Inherit(c.inherit)
	}
	c.downgrader, _ = backend.(driver.Downgrader)
	return c, nil
}

// Backend returns the backend of the client, for packages that make something of it beside locks. The client goes on
// to own it: nobody else closes it, nor calls what has to be called once.
func (c *Client) Backend() driver.Backend { return c.backend }

// Done is closed when the client is stopped, see [Client.Stop].
func (c *Client) Done() <-chan struct{} { return c.closed }

// clockOf returns the clock by which the backend's leases are judged.
func clockOf(backend driver.Backend) func() time.Duration {
	if own, ok := backend.(driver.Timekeeper); ok {
		return own.Now
	}
	return bootclock.Now
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails: the program would have been ended
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// newOwner returns an owner id that no other acquisition anywhere has, in the
// form Redisson uses: client, colon, number.
func (c *Client) newOwner() string {
	return c.ownerOf(c.owners.Add(1))
}

// ownerOf returns the owner id of that number.
func (c *Client) ownerOf(number uint64) string {
	var b [64]byte
	text := append(append(b[:0], c.id...), ':')
	return string(strconv.AppendUint(text, number, 10))
}
