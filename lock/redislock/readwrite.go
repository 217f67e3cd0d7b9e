package redislock

import (
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// readWrite is a grant of Redisson's read-write lock.
type readWrite struct{ name, owner, how string }

const (
	// writerClaim is for how long a writer's wait keeps readers off, unless it asks again, in ms.
	writerClaim = "5000"
	// readersTurn is for how long the readers who wait go first after a writer, in ms.
	readersTurn = "100"
)

// howWord says in the words of the scripts how it is had.
func howWord(g *driver.Grant) string {
	switch {
	case g.Mode == driver.Write:
		return "write"
	case g.Upgradeable:
		return "upgradeable"
	default:
		return "read"
	}
}

// holdKey returns the key that lives for as long as the reader does, or the writer beside readers.
func (w *readWrite) holdKey() string {
	field := w.owner
	if w.how == "write" {
		field += ":write"
	}
	return tagged(w.name) + ":" + field + ":rwlock_timeout:1"
}

// acquiring implements crowdHandle.
func (w *readWrite) acquiring(b *backend, req *driver.Request) redisconn.Call {
	claim := ""
	if req.Waits {
		claim = writerClaim
	}
	return redisconn.Call{
		Script: b.scripts.rw.acquire,
		Keys: []string{
			w.name, b.layout.of(w.name, "").token, w.holdKey(), beside(holdersKey, w.name), beside(writerKey, w.name),
			beside(upgradeKey, w.name), beside(readersKey, w.name), beside(turnKey, w.name),
		},
		Args: []string{
			b.tokenTTL, b.leaseText(req.TTL), w.owner, strconv.Itoa(max(req.Tokens, 1)), req.Meta, w.how, req.Over,
			claim, readersTurn,
		},
	}
}

// releasing implements crowdHandle.
func (w *readWrite) releasing(b *backend, publish string) redisconn.Call {
	return redisconn.Call{
		Script: b.scripts.rw.release,
		Keys: []string{
			w.name, b.layout.channelOf(w.name, driver.ReadWrite), b.layout.latchOf(w.name, w.owner), w.holdKey(),
			beside(holdersKey, w.name), beside(writerKey, w.name), beside(upgradeKey, w.name),
			beside(readersKey, w.name), beside(turnKey, w.name),
		},
		Args: []string{publish, w.owner, w.how, crowdLatch, readersTurn},
	}
}

// annotating implements crowdHandle.
func (w *readWrite) annotating(b *backend, meta string) redisconn.Call {
	return redisconn.Call{
		Script: b.scripts.rw.annotate,
		Keys:   []string{w.name, b.layout.of(w.name, "").token, w.holdKey(), beside(holdersKey, w.name)},
		Args:   []string{w.owner, w.how, meta},
	}
}

// renewing implements crowdHandle.
func (w *readWrite) renewing(b *backend, call *redisconn.Call, ttl time.Duration) {
	call.Keys = append(call.Keys, w.name, w.holdKey(), beside(holdersKey, w.name), beside(upgradeKey, w.name))
	call.Args = append(call.Args, w.owner, w.how, b.leaseText(ttl))
}
