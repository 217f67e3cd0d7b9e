package client

import (
	"context"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// watch is one listener for the releases of a name.
type watch struct {
	*releases

	closed atomic.Bool
}

// releases are what a stream tells of a name, made again whenever it breaks. One watch at a time has it.
type releases struct {
	backend *backend
	of      heardName
	c       chan struct{}
	count   atomic.Uint64
	up      atomic.Bool
	useful  atomic.Bool // a release was heard of, or the lock passed on to who listened
	begun   chan error  // gets how the first try ended; run sets it to nil then
	cancel  context.CancelFunc
}

// Watch implements [driver.Waiter].
func (b *backend) Watch(ctx context.Context, name string, kind driver.Kind) (driver.Watch, error) {
	if err := b.life.Err(); err != nil {
		return nil, lockError("watch", name, err)
	}
	life, cancel := context.WithCancel(b.life)
	begun := make(chan error, 1)
	w := &watch{releases: &releases{
		backend: b, of: heardName{name, kind}, c: make(chan struct{}, 1), begun: begun, cancel: cancel,
	}}
	b.work.Go(func() { w.run(life) })
	select {
	case err := <-begun:
		if err == nil {
			b.heard.add(w.releases)
			return w, nil
		}
		w.Close()
		return nil, neverHeardOfLatches(kind, lockError("watch", name, err))
	case <-ctx.Done():
		w.Close()
		return nil, lockError("watch", name, ctx.Err())
	}
}

// Close implements [driver.Watch]. A stream that was of use goes on for a while: see [backend.Resume].
func (w *watch) Close() {
	if !w.closed.Swap(true) && !w.backend.heard.leaveStream(w.releases) {
		w.cancel()
	}
}

// C implements [driver.Watch].
func (w *releases) C() <-chan struct{} { return w.c }

// run listens until the watch is closed. Only the first try may fail for good. While
// nothing is heard, the watcher is woken every now and then to ask.
func (w *releases) run(ctx context.Context) {
	heard, err := w.listen(ctx)
	if !heard {
		w.begun <- err
		return
	}
	for pause := firstPause; sleep.For(ctx, jittered(pause)); pause = min(2*pause, longestPause) {
		if heard, _ = w.listen(ctx); heard {
			pause = firstPause
		}
		w.signal()
	}
}

// listen passes the signals of one stream on. The first message says that listening
// has begun; on a stream made again, a release may have been missed before. It
// reports whether anything was heard.
func (w *releases) listen(ctx context.Context) (heard bool, err error) {
	stream, err := w.backend.client.listening.Listen(ctx, &bedrockv1.ListenRequest{
		Name: w.of.name, Client: w.backend.id, Mode: apiwire.Listening(w.of.kind),
	})
	if err != nil {
		return false, err
	}
	defer stream.Close()
	defer w.up.Store(false)
	for ; stream.Receive(); heard = true {
		w.up.Store(true)
		if w.begun == nil {
			w.useful.Store(true)
			w.signal()
			continue
		}
		w.begun <- nil
		w.begun = nil
	}
	if err := stream.Err(); err != nil {
		return heard, err
	}
	return heard, errEarly
}

// Count implements [driver.Watch].
func (w *releases) Count() uint64 { return w.count.Load() }

// signal counts, and leaves a signal unless there is one already.
func (w *releases) signal() {
	w.count.Add(1)
	select {
	case w.c <- struct{}{}:
	default:
	}
}
