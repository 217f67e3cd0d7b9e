package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/batch"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// batcher makes the calls of many goroutines, those that come at the same time in one
// pipeline.
type batcher struct {
	conn   redisconn.Conn
	shared *batch.Batcher[[]redisconn.Call, []redisconn.Result]
}

type request = batch.Request[[]redisconn.Call, []redisconn.Result]

const (
	// batchWorkers is how many pipelines are under way at most.
	batchWorkers = 2
	// largestBatch bounds how many calls go together, more or less.
	largestBatch = 128
)

func newBatcher(conn redisconn.Conn) *batcher {
	opts := batch.Options[[]redisconn.Call]{
		Workers: batchWorkers, Most: largestBatch, Size: func(calls []redisconn.Call) int { return len(calls) },
	}
	return &batcher{conn, batch.New(opts, func() batch.Server[[]redisconn.Call, []redisconn.Result] {
		var all []redisconn.Call
		return func(requests []*request) { all = serveInOne(conn, requests, all[:0]) }
	})}
}

// serveInOne makes the calls of all requests in one pipeline. It returns the slice all, in
// which the calls were put together, to be used again.
func serveInOne(conn redisconn.Conn, requests []*request, all []redisconn.Call) []redisconn.Call {
	for _, r := range requests {
		all = append(all, r.Want...)
	}
	results := conn.Pipeline(context.Background(), all) // the callers have contexts of their own
	for _, r := range requests {
		n := len(r.Want)
		r.Answer(results[:n], nil)
		results = results[n:]
	}
	clear(all)
	return all
}

// run makes calls. An error says that they got no answer, and whether they may have been
// sent. Otherwise each result has an error of its own.
func (b *batcher) run(ctx context.Context, calls ...redisconn.Call) ([]redisconn.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, notSent(err)
	}
	began := time.Now()
	results, err := b.shared.Do(ctx, calls)
	if err != nil {
		b.doubt(began, err, calls)
		return nil, leftBehind(err)
	}
	return results, nil
}

// doubt tells the connection that a caller has left calls without an answer: they end later, if at all.
func (b *batcher) doubt(began time.Time, err error, calls []redisconn.Call) {
	d, ok := b.conn.(redisconn.Doubter)
	if _, left := errors.AsType[*redisconn.UnderwayError](err); !ok || !left || errors.Is(err, batch.ErrClosed) {
		return
	}
	for i := range calls {
		if len(calls[i].Keys) > 0 {
			d.Doubt(began, err, calls[i].Keys[0])
		}
	}
}

func (b *batcher) runOne(ctx context.Context, call redisconn.Call) redisconn.Result {
	results, err := b.run(ctx, call)
	if err != nil {
		return redisconn.Result{Err: err}
	}
	return results[0]
}

// leftBehind puts the error of a caller that left its request into the words of package
// driver.
func leftBehind(err error) error {
	_, unsent := errors.AsType[*batch.UnsentError](err)
	switch closed := errors.Is(err, batch.ErrClosed); {
	case closed && unsent:
		return driver.ErrClosed
	case closed:
		return errLeftBehind // the other would say that nothing is written
	case unsent:
		return notSent(err)
	default:
		return err
	}
}

// errLeftBehind says that a store was closed while a server was at work.
var errLeftBehind = errors.New("store was closed before there was an answer")

// notSent says that nothing happened.
func notSent(cause error) error { return fmt.Errorf("%w: %w", driver.ErrUnavailable, cause) }

func (b *batcher) close() { b.shared.Close() }
