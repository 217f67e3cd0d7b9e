package redislock

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/batch"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// batcher runs a script for many goroutines, in one run for all that ask at the same
// time: the server and the client have one command to deal with instead of dozens.
type batcher struct {
	conn   redisconn.Conn
	script *redisconn.Script
	common []string // the arguments before those of the requests
	shared *batch.Batcher[scriptInput, redisconn.Reply]
}

// scriptInput is one goroutine's part of the keys and arguments.
type scriptInput struct{ keys, args []string }

type request = batch.Request[scriptInput, redisconn.Reply]

const (
	// batchWorkers is how many runs are under way at most.
	batchWorkers = 2
	// largestBatch bounds how long one script keeps the server busy.
	largestBatch = 64
)

func newBatcher(conn redisconn.Conn, s *redisconn.Script, common ...string) *batcher {
	b := &batcher{conn: conn, script: s, common: common}
	opts := batch.Options[scriptInput]{Workers: batchWorkers, Most: largestBatch}
	b.shared = batch.New(opts, func() batch.Server[scriptInput, redisconn.Reply] {
		var memory scriptInput
		return func(requests []*request) { b.run(requests, &memory) }
	})
	return b
}

// eval is one request. When ctx ends before it was sent, the error says that
// nothing happened; when it is under way, the error is a [*driver.UnderwayError].
func (b *batcher) eval(ctx context.Context, keys, args []string) (redisconn.Reply, error) {
	began := time.Now()
	reply, err := b.shared.Do(ctx, scriptInput{keys, args})
	if err != nil {
		b.doubt(began, err, keys[0])
		return redisconn.Reply{}, leftBehind(err)
	}
	return reply, nil
}

// doubt tells the connection that a caller has left a call without an answer: it ends later, if at all.
func (b *batcher) doubt(began time.Time, err error, key string) {
	_, left := errors.AsType[*driver.UnderwayError](err)
	if d, ok := b.conn.(redisconn.Doubter); ok && left && !errors.Is(err, batch.ErrClosed) {
		d.Doubt(began, err, key)
	}
}

// leftBehind puts the error of who has left its request into the words of package driver.
func leftBehind(err error) error {
	closed := errors.Is(err, batch.ErrClosed)
	if call, left := errors.AsType[*driver.UnderwayError](err); left && closed {
		return &driver.UnderwayError{Err: errClosed, Ended: call.Ended}
	}
	if _, unsent := errors.AsType[*batch.UnsentError](err); unsent && !closed {
		return notSent(err)
	}
	if closed {
		return errClosed
	}
	return err
}

// run makes one call for all requests; or several, when one of them has kept the others from
// being looked at: each is answered when its own call has ended. Its keys and arguments are
// put together in memory, which is used again for the next.
func (b *batcher) run(requests []*request, memory *scriptInput) {
	memory.keys, memory.args = memory.keys[:0], append(memory.args[:0], b.common...)
	for _, r := range requests {
		memory.keys = append(memory.keys, r.Want.keys...)
		memory.args = append(memory.args, r.Want.args...)
	}
	reply, err := b.conn.Eval(context.Background(), b.script, memory.keys, memory.args)
	if n := len(requests); n > 1 && redisconn.KeyRefused(err) {
		b.run(requests[:n/2], memory)
		b.run(requests[n/2:], memory)
		return
	}
	deliver(requests, reply, err)
}

// deliver gives every request its own part of the answer.
func deliver(requests []*request, reply redisconn.Reply, err error) {
	if err == nil && len(requests) > 1 && reply.Len() != len(requests) {
		err = errors.New("redislock: the script's answer has the wrong length")
	}
	for i, r := range requests {
		switch {
		case err != nil:
			r.Answer(redisconn.Reply{}, err)
		case len(requests) == 1:
			r.Answer(reply, nil)
		default:
			r.Answer(partOf(reply.At(i)))
		}
	}
}

// partOf tells a script's answer for one of several from its error.
func partOf(reply redisconn.Reply) (redisconn.Reply, error) {
	if reply.Len() == 2 && reply.At(0).Int == -1 {
		return redisconn.Reply{}, &redisconn.ReplyError{Cause: errors.New(reply.At(1).Str)}
	}
	return reply, nil
}

func (b *batcher) close() { b.shared.Close() }
