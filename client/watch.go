package client

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/internal/sleep"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

var (
	// errStopped says that the watcher has seen enough.
	errStopped = errors.New("stopped")
	// errEarly says that a server ended a stream without saying why.
	errEarly = errors.New("the stream has ended too early")
)

// Watch implements [txn.Inspector]. It goes on when the connection breaks.
func (c *Client) Watch(ctx context.Context, id string) iter.Seq2[*txn.Transaction, error] {
	return func(yield func(*txn.Transaction, error) bool) {
		w := watcher{client: c, req: &bedrockv1.WatchRequest{Id: id}, yield: yield, pause: firstPause}
		if err := w.showAll(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// watcher follows one transaction over as many connections as it takes.
type watcher struct {
	client *Client
	req    *bedrockv1.WatchRequest
	yield  func(*txn.Transaction, error) bool

	seen    *txn.Transaction // the newest
	pause   time.Duration
	failing time.Time // since when nothing was heard; zero: all is well
}

func (w *watcher) showAll(ctx context.Context) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	if err := unfit(w.req); err != nil {
		return err
	}
	for {
		err := w.readConnection(ctx)
		switch left, meant := effectOf(err); {
		case err == nil || errors.Is(err, errStopped):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case left == answered:
			return meant
		case !w.pauseToRetry(ctx):
			return givenUp(ctx, meant, false)
		}
	}
}

// readConnection reads one connection. It returns nil when the transaction is final.
func (w *watcher) readConnection(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := w.client.streams.Watch(ctx, w.req)
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		t, err := apiwire.TransactionOf(stream.Msg().GetTransaction())
		if err != nil {
			return err
		}
		if err := w.show(t); err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	if w.seen == nil || !w.seen.Status.Final() {
		return errEarly
	}
	return nil
}

// show passes a transaction on, unless it was shown before.
func (w *watcher) show(t *txn.Transaction) error {
	w.pause, w.failing = firstPause, time.Time{}
	if w.seen != nil && w.seen.Revision == t.Revision && w.seen.Created.Equal(t.Created) { // else the ID is used again
		return nil
	}
	w.seen = t
	if !w.yield(t, nil) {
		return errStopped
	}
	return nil
}

// pauseToRetry waits before the next connection. It reports whether one is worth trying.
func (w *watcher) pauseToRetry(ctx context.Context) bool {
	if w.failing.IsZero() {
		w.failing = time.Now()
	}
	if time.Since(w.failing) >= w.client.patience || !sleep.For(ctx, jittered(w.pause)) {
		return false
	}
	w.pause = min(2*w.pause, longestPause)
	return true
}
