package zklock_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// The operations of requests.
const (
	creates     = 1
	listsNodes  = 12
	makesChange = 14 // several in one
)

// wire has a client's connections break at its requests.
type wire struct {
	isDown atomic.Bool // no connection can be made
	// before is called before a request is sent, and breaks the connection by an error, unless that is errDeaf: then
	// the answer does. after is called when it was sent.
	before func(operation uint32) error
	after  func(operation uint32, conn net.Conn)
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if w.isDown.Load() {
		return nil, errors.New("no route to host")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	return &wiredConn{Conn: conn, wire: w}, err
}

// errDeaf has a request be sent whose answer is lost.
var errDeaf = errors.New("deaf")

type wiredConn struct {
	net.Conn

	wire   *wire
	isDeaf atomic.Bool
}

// Read implements [net.Conn].
func (c *wiredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.isDeaf.Load() {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write implements [net.Conn].
func (c *wiredConn) Write(b []byte) (int, error) {
	var operation uint32
	if len(b) >= 12 {
		operation = binary.BigEndian.Uint32(b[8:])
	}
	if c.wire.before != nil {
		switch err := c.wire.before(operation); {
		case errors.Is(err, errDeaf):
			c.isDeaf.Store(true)
		case err != nil:
			_ = c.Close()
			return 0, err
		}
	}
	n, err := c.Conn.Write(b)
	if c.wire.after != nil {
		c.wire.after(operation, c.Conn)
	}
	return n, err
}

// TestFailureAfterTheNodeWasMade: there is no server any more when it is looked where the node stands. That is not as
// if nothing had happened. (The library says by chance of what comes then that it was sent.)
func TestFailureAfterTheNodeWasMade(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	w := &wire{}
	w.after = func(operation uint32, conn net.Conn) {
		if operation == creates {
			<-time.After(20 * time.Millisecond) // it is answered, and the next request waits behind it
			w.isDown.Store(true)
			_ = conn.Close()
		}
	}
	opts := long()
	opts.Dial = w.dial
	b, near := open(t, opts, server.Addr()), open(t, nil, server.Addr())
	eventually(t, "a request is not sent", func() bool {
		mustRelease(t, near, mustAcquire(t, near, request("a", "me:0")))
		req := request("a", "me:1")
		_, err := b.Acquire(ctxFor(t), req)
		if err == nil || errors.Is(err, driver.ErrUnavailable) {
			t.Fatalf("a node was made, and the error is %v", err)
		}
		mustBeHeld(t, near, request("a", "me:2"))
		w.isDown.Store(false)
		eventually(t, "it is given back", func() bool {
			_, released := b.Release(ctxFor(t), req.Ungranted())
			return released == nil || errors.Is(released, driver.ErrLost)
		})
		return strings.Contains(err.Error(), zk.ErrNoServer.Error())
	})
}

// TestTokenIsNotThatOfTheNode: somebody else comes and leaves meanwhile, so the folder's last change is another one.
func TestTokenIsNotThatOfTheNode(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	other, stranger := raw(t, server), ""
	w := &wire{before: func(operation uint32) (err error) {
		switch {
		case operation == creates && stranger == "":
			stranger, err = other.Create("/bedrock/lock/a/lock-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
		case operation == listsNodes && stranger != "":
			_ = other.Delete(stranger, -1)
		}
		return err
	}}
	b := open(t, nil, server.Addr())
	mustRelease(t, b, mustAcquire(t, b, request("a", "me:0")))
	opts := long()
	opts.Dial = w.dial
	late := open(t, opts, server.Addr())
	g, err := late.Acquire(ctxFor(t), request("a", "me:1"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
	if err != nil || len(info.Holders) != 1 || info.Holders[0].Token != g.Token {
		t.Errorf("granted is %d, told is %+v, %v", g.Token, info, err)
	}
}

// TestEndOfAPlaceTakesTheNextGrant: the answer to a request is lost, and the servers are away for longer than its time.
// The owner asks again when they are back, while what it may have had is still being ended.
func TestEndOfAPlaceTakesTheNextGrant(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	var breaksAtCreate, breaksAtList atomic.Bool
	w := &wire{}
	w.before = func(operation uint32) error {
		switch {
		case operation == listsNodes && breaksAtList.CompareAndSwap(true, false):
			return net.ErrClosed
		case operation == creates && breaksAtCreate.CompareAndSwap(true, false):
			w.isDown.Store(true)
			return errDeaf
		}
		return nil
	}
	opts := long()
	opts.Dial = w.dial
	b, other := open(t, opts, server.Addr()), open(t, nil, server.Addr())
	mustRelease(t, b, mustAcquire(t, b, request("a", "me:0")))
	mustAcquire(t, b, request("b", "me:2")) // it is watched soon, so that replies are not held back
	brief := request("a", "me:1")
	brief.TTL = 200 * time.Millisecond
	<-time.After(brief.TTL)
	breaksAtCreate.Store(true)
	if _, err := b.Acquire(ctxFor(t), brief); err == nil {
		t.Fatal("no answer was lost")
	}
	<-time.After(2 * brief.TTL)
	breaksAtList.Store(true) // so that its end is tried once more after a pause
	w.isDown.Store(false)
	eventually(t, "the connection breaks", func() bool { return !breaksAtList.Load() })
	eventually(t, "it is granted", func() bool {
		_, err := b.Acquire(ctxFor(t), request("a", "me:1"))
		return err == nil
	})
	for start := time.Now(); time.Since(start) < 500*time.Millisecond; {
		mustBeHeld(t, other, request("a", "other:1"))
	}
}
