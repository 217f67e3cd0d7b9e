package redislock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// A latch is Redisson's RCountDownLatch: see scripts/countdown.lua. It is no grant, and Options.Acks is not about it:
// no replica is waited for, as none is by Redisson.

// countdown is one call about a latch.
type countdown struct {
	verb, name, id string
	script         *redisconn.Script
	count          int
	once           bool // a copy would have another answer
}

// What the scripts answer first.
const (
	countdownNotDone = iota
	countdownDone
	countdownOtherKind
)

// Whom the channel of a latch tells what.
const (
	countdownOpen = "0"
	countdownShut = "1"
)

// SetLatch implements [driver.Latches].
func (b *backend) SetLatch(ctx context.Context, name, id string, count int) (set bool, err error) {
	c := countdown{verb: "set latch", name: name, id: id, script: b.scripts.countdown.set, count: count}
	done, _, err := b.countLatch(ctx, c)
	if err == nil && done {
		b.tellElsewhere(ctx, name, countdownShut)
	}
	return done, err
}

// CountDown implements [driver.Latches].
func (b *backend) CountDown(ctx context.Context, name, id string, by int) (left int, err error) {
	c := countdown{verb: "count down", name: name, id: id, script: b.scripts.countdown.down, count: by}
	done, left, err := b.countLatch(ctx, c)
	switch {
	case err != nil:
		return 0, err
	case !done:
		return left, describe(c.verb, name, &driver.CountError{Left: left, By: by})
	case left == 0:
		b.tellElsewhere(ctx, name, countdownOpen)
	}
	return left, nil
}

// LatchCount implements [driver.Latches].
func (b *backend) LatchCount(ctx context.Context, name string) (int, error) {
	_, left, err := b.evalCountdown(ctx, countdown{verb: "count", name: name, script: b.scripts.countdown.left})
	return left, err
}

// DropLatch implements [driver.Latches].
func (b *backend) DropLatch(ctx context.Context, name string) (bool, error) {
	_, left, err := b.evalCountdown(ctx, countdown{
		verb: "drop latch", name: name, script: b.scripts.countdown.drop, once: true,
	})
	if left > 0 {
		b.tellElsewhere(ctx, name, countdownOpen)
	}
	return left > 0, err
}

// countLatch makes a call that has a count, and an ID by which it is known again.
func (b *backend) countLatch(ctx context.Context, c countdown) (done bool, left int, err error) {
	if err := errors.Join(driver.CheckCount("count", c.count), checkID(c.id)); err != nil {
		return false, 0, describe(c.verb, c.name, driver.Refused(err))
	}
	return b.evalCountdown(ctx, c)
}

func checkID(id string) error {
	if id == "" || len(id) > driver.MaxOwner {
		return input.Errorf("id", "has %d bytes, allowed are 1 to %d", len(id), driver.MaxOwner)
	}
	return nil
}

// evalCountdown makes a call. One that meets a broken connection is repeated, if a copy of it is known by its ID or
// changes nothing.
func (b *backend) evalCountdown(ctx context.Context, c countdown) (done bool, left int, err error) {
	if err := b.checkCountdown(c.name); err != nil {
		return false, 0, describe(c.verb, c.name, err)
	}
	if err := ctx.Err(); err != nil {
		return false, 0, notSent(err)
	}
	call := b.countdownCall(&c)
	eval := func() (redisconn.Reply, error) { return b.conn.Eval(ctx, call.Script, call.Keys, call.Args) }
	var answer redisconn.Reply
	if c.once {
		answer, err = eval()
	} else {
		answer, err = redisconn.Repeat(ctx, eval)
	}
	if err != nil {
		return false, 0, describe(c.verb, c.name, err)
	}
	if answer.Len() != 2 {
		return false, 0, fmt.Errorf("redislock: %s %q: the answer is %d long, not 2", c.verb, c.name, answer.Len())
	}
	what, number := answer.At(0).Int, answer.At(1).Int
	if what == countdownOtherKind {
		err := &driver.KindError{Found: driver.Kind(number), Wanted: driver.Latch}
		return false, 0, describe(c.verb, c.name, err)
	}
	return what == countdownDone, int(number), nil
}

// checkCountdown refuses names that cannot be those of latches.
func (b *backend) checkCountdown(name string) error {
	if b.opts.Profile == Redlock {
		return fmt.Errorf("%w: latches", driver.ErrUnsupported)
	}
	return checkName(name, b.conn.Cluster())
}

// countdownCall returns what the scripts need. The text of an ID may be anything, and ends in the name of a key.
func (b *backend) countdownCall(c *countdown) redisconn.Call {
	sum := sha256.Sum256([]byte(c.id))
	sharded, known := b.pubsub.known(b)
	channels := [2]string{b.heardOn(c.name, driver.Latch, sharded)}
	if own := b.heardOn(c.name, driver.Latch, true); !known && own != channels[0] {
		channels[1] = own
	}
	return redisconn.Call{
		Script: c.script,
		Keys: []string{
			c.name, beside(markKey, c.name), beside(markKey+callPart, c.name) + ":" + hex.EncodeToString(sum[:16]),
		},
		Args: []string{b.pubsub.command(b), channels[0], channels[1], strconv.Itoa(c.count)},
	}
}
