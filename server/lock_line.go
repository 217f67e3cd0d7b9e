package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// waitInLine waits for a fair lock. Everybody waits by itself here: the order is that of the store's line. A place
// there is kept only for who has said that it asks again, and has been told that the lock is held.
func (l *locks) waitInLine(
	ctx context.Context, req driver.Request, most time.Duration, asksAgain bool,
) (driver.Grant, error) {
	bounded, cancel := boundWait(ctx, most)
	defer cancel()
	bounded, stop := context.WithCancelCause(bounded)
	defer stop(nil)
	defer l.fairWaits.enterWait(fairWait{req.Name, req.Owner}, stop)()
	grant, err := l.contend(ctx, bounded, req)
	if err == nil {
		return grant, nil
	}
	released := errors.Is(context.Cause(bounded), errReleased)
	leaves := !asksAgain || ctx.Err() != nil || !errors.Is(err, driver.ErrHeld)
	if released || leaves && !l.fairWaits.hasCopy(fairWait{req.Name, req.Owner}) {
		l.giveUp(ctx, req.Ungranted())
	}
	return grant, err
}

// errReleased is why the wait of an owner ends that was released: asked for again, it would be in line once more.
var errReleased = errors.New("the owner was released")

// fairWait is the wait of an owner in the store's line.
type fairWait struct{ name, owner string }

// fairWaits are those at this server, by what ends them: there may be copies of a request.
type fairWaits struct {
	mu  sync.Mutex
	all map[fairWait]map[*context.CancelCauseFunc]struct{}
}

// enterWait enters one, until leave.
func (w *fairWaits) enterWait(at fairWait, stop context.CancelCauseFunc) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[fairWait]map[*context.CancelCauseFunc]struct{})
	}
	if w.all[at] == nil {
		w.all[at] = make(map[*context.CancelCauseFunc]struct{}, 1)
	}
	w.all[at][&stop] = struct{}{}
	return func() { w.remove(at, &stop) }
}

func (w *fairWaits) remove(at fairWait, stop *context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all[at], stop)
	if len(w.all[at]) == 0 {
		delete(w.all, at)
	}
}

// hasCopy reports whether an owner waits here by another request besides: the place is that one's, too.
func (w *fairWaits) hasCopy(at fairWait) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all[at]) > 1
}

// endWaits ends the waits of an owner, whose caller has left. The call goes on until then: to break it off would cost
// the caller a connection.
func (w *fairWaits) endWaits(at fairWait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for stop := range w.all[at] {
		(*stop)(errReleased)
	}
}
