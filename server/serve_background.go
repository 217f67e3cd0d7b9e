package server

import (
	"context"
	"sync"
)

type backgroundKey struct{}

// background is what goes on after the calls that have begun it, and ends with the
// server: the stores may be closed then.
type background struct {
	ctx  context.Context //nolint:containedctx // of the server, which no call's context outlives
	stop context.CancelFunc
	work sync.WaitGroup
}

// withBackground gives calls made with a context a place for what they leave to do.
func withBackground(ctx context.Context) (context.Context, *background) {
	b := &background{}
	b.ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	return context.WithValue(ctx, backgroundKey{}, b), b
}

// runAfterCall runs work that outlives a call. Outside a server nothing ends it, so it has
// to end by itself.
func runAfterCall(ctx context.Context, what func(context.Context)) {
	b, ok := ctx.Value(backgroundKey{}).(*background)
	if !ok {
		go what(context.WithoutCancel(ctx))
		return
	}
	b.work.Go(func() { what(b.ctx) })
}

// waitOrCancel waits for what is under way, breaks it off when ctx ends, and returns when
// nothing is left.
func (b *background) waitOrCancel(ctx context.Context) {
	defer b.stop()
	ended := context.AfterFunc(ctx, b.stop)
	defer ended()
	b.work.Wait()
}
