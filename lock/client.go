package lock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Client gives out locks of one backend. One client per process and backend is
// enough: waiting and renewal are shared among all locks of a client.
//
// A Client is safe for concurrent use.
type Client struct {
	backend driver.Backend
	opts    Options
	meta    string               // what is stored beside a grant
	now     func() time.Duration // the clock by which leases are judged
	draw    chance.Draw          // the random part of pauses

	id     string // the first part of every owner id
	owners atomic.Uint64

	queues  queues
	renewer renewer

	// work counts names in use and background releases. Both belong to the
	// client, not to a caller, and end when background does.
	work       sync.WaitGroup
	background context.Context //nolint:containedctx // clean-up outlives every caller's context
	stop       context.CancelFunc
	closed     chan struct{} // since Close
	closing    sync.Once
	ended      chan struct{} // when nothing is left
	failure    error         // of closing the backend; set before ended is closed
}

// New returns a client of backend, which it owns from then on. Backends have
// constructors of their own that call New; use those.
func New(backend driver.Backend, opts *Options) (*Client, error) {
	if backend == nil {
		return nil, &InvalidError{"backend", "is nil"}
	}
	filled, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{
		backend: backend,
		opts:    filled,
		meta:    encodeMeta(processMeta(filled.Meta)),
		now:     clockOf(backend),
		draw:    chance.Of(backend),
		id:      newID(),
		closed:  make(chan struct{}),
		ended:   make(chan struct{}),
	}
	c.background, c.stop = context.WithCancel(context.Background())
	c.queues.init(c)
	c.renewer.init(c)
	return c, nil
}

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
	var b [64]byte
	text := append(append(b[:0], c.id...), ':')
	return string(strconv.AppendUint(text, c.owners.Add(1), 10))
}

// Close ends the client: waiting Locks fail with [ErrClosed], the context of
// every lease ends with that cause, and what is held is released. It waits until
// nothing of the client is left running or ctx ends, and reports what it could
// not release. The client or connection given to the backend stays open.
//
// The first Close decides how long is tried to release; others only wait.
func (c *Client) Close(ctx context.Context) error {
	if ctx == nil {
		return errNilContext()
	}
	first := false
	c.closing.Do(func() { first = true })
	if !first {
		return c.awaitEnd(ctx)
	}
	close(c.closed)
	err := c.releaseAll(ctx, c.queues.close())
	go c.endWork()
	defer context.AfterFunc(ctx, c.stop)() // what is still under way ends then
	return errors.Join(err, c.awaitEnd(ctx))
}

// endWork closes the backend when everything that the client has under way has
// ended, or is broken off.
func (c *Client) endWork() {
	defer close(c.ended)
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		c.work.Wait()
	}()
	select {
	case <-idle:
	case <-c.background.Done():
	}
	c.renewer.close()
	c.stop()
	c.failure = c.backend.Close()
	<-idle
}

// closeGrace is how long a client whose Close is over may take to end before it goes
// on in the background.
const closeGrace = 50 * time.Millisecond

// awaitEnd waits until nothing of the client is left. A backend may take longer to
// close than ctx allows: its servers need not answer.
func (c *Client) awaitEnd(ctx context.Context) error {
	select {
	case <-c.ended:
		return c.failure
	case <-ctx.Done():
	}
	select {
	case <-c.ended:
	case <-time.After(closeGrace):
	}
	return fmt.Errorf("lock: close: %w", contextError(ctx))
}

// releaseAll releases what was held when the client was closed, a few at a time.
// When ctx ends, the rest is left to run out by itself.
func (c *Client) releaseAll(ctx context.Context, held []*hold) error {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		slots = make(chan struct{}, 32)
	)
	ctx, cancel := releaseContext(ctx)
	defer cancel()
	for _, h := range held {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := h.relinquish(ctx); err != nil && !errors.Is(err, ErrLost) {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
