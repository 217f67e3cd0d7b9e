package combination

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/several"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := b.stores.CheckRequest(ctx, &req); err != nil {
		return driver.Grant{}, fmt.Errorf("combination: acquire %q: %w", req.Name, err)
	}
	nodes, err := b.present(ctx)
	if err != nil {
		return driver.Grant{}, fmt.Errorf("combination: acquire %q: %w", req.Name, err)
	}
	g, err := b.newWalk(&req).takeAll(ctx, nodes)
	if err != nil {
		if _, held := errors.AsType[*driver.HeldError](err); held {
			return driver.Grant{}, err
		}
		return driver.Grant{}, fmt.Errorf("combination: acquire %q: %w", req.Name, err)
	}
	return g, nil
}

// walk is one request, from node to node.
type walk struct {
	*backend
	req    driver.Request // as the next node is asked
	ballot *several.Ballot
	grants []driver.Grant // of the nodes behind it
	by     []*several.Node
	lost   error // why the last node of those was lost that were lost on the way
	began  time.Duration
	again  bool // it is a grant already, and is asked for once more
	kept   int  // how many of the nodes behind it had it before, and have not forgotten

	watched *several.Watched // nil if nobody waits for the name here
}

func (b *backend) newWalk(req *driver.Request) *walk {
	w := &walk{backend: b, ballot: b.stores.Open(req), began: b.stores.Now()}
	w.watched = b.stores.WatchedName(req.Name)
	w.req, w.again = w.ballot.AsVote(req)
	return w
}

// takeAll takes the lock at one node after the other. Those that do not answer are passed over. What was taken when the
// caller goes is left: it is the caller that asks for more, or gives it back.
func (w *walk) takeAll(ctx context.Context, nodes []*several.Node) (driver.Grant, error) {
	w.watched.Asks()
	w.grants, w.by = make([]driver.Grant, 0, len(nodes)), make([]*several.Node, 0, len(nodes))
	for _, n := range nodes {
		if err := w.takeAt(ctx, n); err != nil {
			return driver.Grant{}, w.endIn(ctx, err)
		}
	}
	if w.again && w.kept > 0 && w.kept == len(w.grants) {
		return w.ballot.Again(w.req.TTL, w.began), nil
	}
	w.again = false
	first, tokens, err := w.agree(ctx)
	if err != nil {
		return driver.Grant{}, w.endIn(ctx, err)
	}
	g := w.ballot.Win(first, min(tokens, w.req.Tokens), w.began)
	w.ballot.Seek()
	return g, nil
}

// endIn ends a walk.
func (w *walk) endIn(ctx context.Context, why error) error {
	if ctx.Err() != nil && w.ballot.HasVotes() {
		return fmt.Errorf("on the way: %w", ctx.Err())
	}
	return w.giveUp(ctx, why)
}

// takeAt takes the lock at one node. An error ends the walk.
func (w *walk) takeAt(ctx context.Context, n *several.Node) error {
	call := w.beginCall(ctx)
	defer call.End()
	g, err := w.askNode(call, n)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	case err == nil:
		w.grants, w.by = append(w.grants, g), append(w.by, n)
		w.req.Above = max(w.req.Above, g.Token-1)
	case errors.Is(err, driver.ErrHeld):
		w.watched.Refused([]*several.Node{n}, len(w.grants))
		return err
	case errors.Is(err, driver.ErrRefused):
		return atNode(n, err)
	default:
		w.lost = atNode(n, err)
	}
	if spent := w.stores.Now() - w.began; spent > w.AcquireTimeout {
		return fmt.Errorf("%w: it has taken %s by now, longer than %s", driver.ErrUnavailable, spent, w.AcquireTimeout)
	}
	return nil
}

func (w *walk) askNode(ctx context.Context, n *several.Node) (g driver.Grant, err error) {
	if !w.again {
		return w.ballot.Ask(ctx, n, w.req)
	}
	g, kept, err := w.ballot.AskAgain(ctx, n, w.req)
	if kept {
		w.kept++
	}
	return g, err
}

// atNode says which node it was.
func atNode(n *several.Node, err error) error {
	return fmt.Errorf("node %d: %w", n.Number(), err)
}

// agree sees to it that every node that was taken has the same tokens: whoever takes any of them next is given
// higher ones.
func (w *walk) agree(ctx context.Context) (first uint64, tokens int, err error) {
	for len(w.grants) > 0 {
		first, tokens = w.stores.Agree(w.grants, len(w.grants))
		if tokens > 0 {
			return first, tokens, nil
		}
		if err := w.raise(ctx, first); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, fmt.Errorf("%w: %w", &Error{Min: w.MinNodes, Nodes: len(w.stores.Nodes)}, w.lost)
}

// raise asks those nodes again, from left to right, that have given lower tokens than first.
func (w *walk) raise(ctx context.Context, first uint64) error {
	grants, by := w.grants, w.by
	w.grants, w.by, w.req.Above = nil, nil, first-1
	for i, g := range grants {
		if g.Token+uint64(g.Tokens)-1 >= first {
			w.grants, w.by = append(w.grants, g), append(w.by, by[i])
			continue
		}
		if err := w.takeAt(ctx, by[i]); err != nil {
			return err
		}
	}
	return nil
}

// giveUp gives back what was taken, from right to left. It waits for that, unless the caller goes: then others find
// nothing of it.
func (w *walk) giveUp(ctx context.Context, why error) error {
	nodes := w.ballot.End()
	if len(nodes) == 0 {
		w.stores.Forget(w.ballot)
		return why
	}
	for _, n := range slices.Backward(nodes) {
		if w.ballot.Has(n) && ctx.Err() == nil {
			_, _ = w.releaseAt(ctx, w.ballot, n) // what is not certain is tried again in the background
		}
	}
	w.ballot.ReleaseAll(nodes)
	return driver.Spent(why)
}

// Release implements [driver.Backend].
func (b *backend) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return 0, err
	}
	ballot := b.stores.Of(&g)
	nodes := ballot.End()
	ballot.Insist(nodes, 1)
	answered, freed, held := false, false, error(nil)
	for i, r := range b.releaseAll(ctx, ballot, nodes) {
		switch {
		case r.err == nil:
			answered, freed, waiting = true, true, max(waiting, r.waiting)
		case errors.Is(r.err, driver.ErrLost):
			answered = true
		default: // it is tried again in the background
			if err = atNode(nodes[i], r.err); r.present {
				held = halfDone(err) // whoever comes next may meet it there
			}
		}
	}
	b.stores.Forget(ballot)
	switch {
	case ctx.Err() != nil && !freed:
		return 0, ctx.Err()
	case held != nil && freed:
		return 0, held
	case freed:
		return waiting, nil
	case answered || err == nil:
		return 0, driver.ErrLost
	default:
		return 0, err
	}
}

// halfDone is the error of a release that others have made, and not this node. Of the whole nobody can say that nothing
// happened.
func halfDone(err error) error {
	if errors.Is(err, driver.ErrUnavailable) {
		return errors.New(err.Error())
	}
	return err
}

// released is what a node has said when the lock was given back there.
type released struct {
	present bool // it was known to answer
	waiting int
	err     error
}

// releaseAll gives the lock back at all nodes but the first at once, and then there: who comes next finds the first
// node held until all others are free.
func (b *backend) releaseAll(ctx context.Context, ballot *several.Ballot, nodes []*several.Node) []released {
	said := make([]released, len(nodes))
	release := func(i int) {
		said[i].present = nodes[i].IsPresent()
		said[i].waiting, said[i].err = b.releaseAt(ctx, ballot, nodes[i])
	}
	var others sync.WaitGroup
	for i := 2; i < len(nodes); i++ {
		others.Go(func() { release(i) })
	}
	if len(nodes) > 1 {
		release(1)
	}
	others.Wait()
	if len(nodes) > 0 {
		release(0)
	}
	return said
}

// releaseAt gives the lock back at one node. When the caller has gone it goes on in the background.
func (b *backend) releaseAt(ctx context.Context, ballot *several.Ballot, n *several.Node) (waiting int, err error) {
	if ctx.Err() != nil {
		b.stores.Background(func() { _, _ = ballot.Release(b.nodeLimit(), n) })
		return 0, ctx.Err()
	}
	call := b.beginCall(ctx)
	defer call.End()
	return ballot.Release(call, n)
}

// beginCall returns the context of one call of one node. It ends with the caller's, too.
func (b *backend) beginCall(ctx context.Context) *timelimit.Context {
	call := &timelimit.Context{}
	call.Begin(ctx, b.nodeLimit())
	return call
}
