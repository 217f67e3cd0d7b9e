package server

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// askStore makes one request to the store. If the outcome is not known, the owner is
// released in the background, however late the grant may come: the caller gets an error, or
// has gone, and nobody else knows the owner.
func (l *locks) askStore(ctx context.Context, req driver.Request) (driver.Grant, error) {
	grant, err := l.backend.Acquire(ctx, req)
	if err != nil {
		l.settleDoubt(ctx, &req, err)
	}
	return grant, err
}

// settleDoubt releases the owner of a request that has failed in the background, unless the error says that nothing
// was granted.
func (l *locks) settleDoubt(ctx context.Context, req *driver.Request, err error) {
	var none *settle.Doubt
	if doubt := none.After(err); doubt != nil {
		g := req.Ungranted()
		runAfterCall(ctx, func(ctx context.Context) { l.settler(l.backend).Settle(ctx, g, doubt) })
	}
}

// giveBack releases a grant whose caller has gone, in the background as well: the store may
// be away just now, and the lock would otherwise stay for as long as its TTL.
func (l *locks) giveBack(ctx context.Context, g driver.Grant) {
	runAfterCall(ctx, func(ctx context.Context) { l.settler(observed{l.backend, l}).Settle(ctx, g, nil) })
}

// giveUpTime is how long a caller waits for that at most: what the store has of it ends by itself.
const giveUpTime = time.Second

// giveUp tells the store that an owner does not wait any more: before the caller is told, who may ask again.
func (l *locks) giveUp(ctx context.Context, g driver.Grant) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTime)
	defer cancel()
	if _, err := l.backend.Release(ctx, g); err != nil && !errors.Is(err, driver.ErrLost) {
		l.log.Warn("lock: a wait has ended unsaid", "name", g.Name, "owner", driver.PublicOwner(g.Owner), "err", err)
	}
}

// observed is a store whose releases are told to the observer, as the grants were.
type observed struct {
	driver.Backend

	locks *locks
}

// Release implements [driver.Backend].
func (o observed) Release(ctx context.Context, g driver.Grant) (int, error) {
	return o.locks.releaseObserved(ctx, g)
}

func (l *locks) settler(store driver.Backend) *settle.Settler {
	began := time.Now()
	return &settle.Settler{Backend: store, Log: l.log, Now: func() time.Duration { return time.Since(began) }}
}
