package locktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// ordering: a fair lock is had in the order of coming, whatever the process, and nobody has to live for that.
func ordering() []behaviour {
	needs := []Capability{Ordering}
	seen := []Capability{Ordering, Inspecting} // else nobody can say who has come before whom
	return []behaviour{
		{name: "WaitersAreNotServedInOrder", run: waitersAreNotServedInOrder, needs: seen},
		{name: "NearWaitersOvertake", run: nearWaitersOvertake, needs: seen},
		{name: "TryOvertakesTheLine", run: tryOvertakesTheLine, needs: needs},
		{name: "TryHasAPlace", run: tryHasAPlace, needs: needs},
		{name: "DeadWaiterHoldsUpTheLine", run: deadWaiterHoldsUpTheLine, needs: seen},
		{name: "LongDeadWaiterHoldsUpTheLine", run: longDeadWaiterHoldsUpTheLine, needs: seen},
		{name: "WaiterWhoGaveUpHoldsUpTheLine", run: waiterWhoGaveUpHoldsUpTheLine, needs: seen},
		{name: "TurnIsNotTold", run: turnIsNotTold, needs: needs},
		{name: "TurnOfWhoGaveUpIsLost", run: turnOfWhoGaveUpIsLost, needs: needs},
		{name: "LiveWaiterLosesItsPlace", run: liveWaiterLosesItsPlace, needs: seen},
		{name: "FixedLeaseIsNotServedWhole", run: fixedLeaseIsNotServedWhole, needs: seen},
		{name: "PlaceIsNotTold", run: placeIsNotTold, needs: needs},
		{name: "LineIsNotShown", run: lineIsNotShown, needs: seen},
		{name: "ForcedReleaseSkipsTheLine", run: forcedReleaseSkipsTheLine, needs: append(seen, Forcing)},
		{name: "LineForgetsWhoHoldsTheLock", run: lineForgetsWhoHoldsTheLock, needs: needs},
	}
}

// fairly are the options of a lock that is had in the order of coming.
func fairly() *lock.MutexOptions { return &lock.MutexOptions{Fair: true} }

// lineUp begins to wait for a fair lock, and returns when so many stand in line.
func (e *env) lineUp(ctx context.Context, c *lock.Client, name string, opts *lock.MutexOptions, place int) *waiter {
	e.Helper()
	w := e.startWaiting(ctx, c.Mutex(name, opts))
	e.standInLine(c, name, place)
	return w
}

// standInLine waits until so many stand in line, and returns who they are.
func (e *env) standInLine(c *lock.Client, name string, n int) (line []lock.InLine) {
	e.Helper()
	e.eventually(fmt.Sprintf("%d stand in line", n), func() bool {
		info, err := c.Inspect(e.contextFor(soon), name)
		line = info.Line
		return err == nil && len(line) == n
	})
	return line
}

// servedBefore checks that the waiter has the lock within d, and those after it do not.
func (e *env) servedBefore(first *waiter, d time.Duration, others ...*waiter) *lock.Lease {
	e.Helper()
	select {
	case <-first.done:
	case <-e.limit(d).over:
	}
	for i, w := range others {
		select {
		case <-w.done:
			e.Fatalf("one %d further back in line comes before the first, error %v", i+1, w.err)
		default:
		}
	}
	return e.served(first, promptly)
}

// serveInOrder has all who wait have the lock, one after the other, with tokens that rise.
func (e *env) serveInOrder(token uint64, line ...*waiter) {
	e.Helper()
	for i, w := range line {
		lease := e.servedBefore(w, soon, line[i+1:]...)
		if lease.Token() <= token {
			e.Errorf("token %d after %d", lease.Token(), token)
		}
		token = lease.Token()
		e.unlock(lease)
	}
}

// waitersAreNotServedInOrder has several goroutines of several processes come one after the other.
func waitersAreNotServedInOrder(e *env) {
	clients, name := []*lock.Client{e.client(nil), e.client(nil), e.client(nil)}, e.name("a")
	held := e.lockSoon(clients[0], name, fairly())
	var line []*waiter
	for i := range 9 {
		line = append(line, e.lineUp(e.contextFor(time.Minute), clients[i*i%3], name, fairly(), i+1))
	}
	e.unlock(held)
	e.serveInOrder(held.Token(), line...)
	e.standInLine(clients[0], name, 0)
}

// nearWaitersOvertake has a process whose goroutines lock again and again, and could do so with no request in
// between.
func nearWaitersOvertake(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	held := e.lockSoon(a, name, fairly())
	for range 5 {
		far := e.lineUp(e.contextFor(time.Minute), b, name, fairly(), 1)
		near := e.lineUp(e.contextFor(time.Minute), a, name, fairly(), 2)
		e.unlock(held)
		again := e.startWaiting(e.contextFor(time.Minute), a.Mutex(name, fairly()))
		e.unlock(e.servedBefore(far, soon, near, again))
		e.unlock(e.servedBefore(near, soon, again))
		held = e.served(again, soon)
	}
	e.unlock(held)
}

// inLine is a client past the front that waits in the line of a fair lock, and how it hears of its turn.
type inLine struct {
	*heir
	watch driver.Watch
}

// fairRequest returns one that waits.
func (e *env) fairRequest(name string) driver.Request {
	req := e.request(name, e.long)
	req.Owner, req.Fair, req.Waits, req.Meta = newClientID()+":1", true, true, `{"host":"h"}`
	return req
}

// inLine makes a client that hears of the turn of a request.
func (e *env) inLine(req driver.Request) *inLine {
	e.Helper()
	w := &inLine{heir: &heir{Backend: e.store(), e: e, told: make(chan driver.Grant, 16)}}
	w.Inherit(func(g driver.Grant) {
		select {
		case w.told <- g:
		default:
		}
	})
	watch, err := w.WatchTurn(e.contextFor(soon), req.Name, req.Owner)
	if err != nil && !errors.Is(err, driver.ErrUnsupported) {
		e.Fatalf("listen for the turn: %v", err)
	}
	if w.watch = watch; err == nil {
		e.Cleanup(watch.Close)
	}
	return w
}

// waitInLine asks for the lock, and is refused: it has a place from then on, and may be granted the lock unasked.
func (w *inLine) waitInLine(req driver.Request, unasked bool) {
	w.e.Helper()
	ask := w.Acquire
	if unasked {
		ask = w.Stand
	}
	_, err := ask(w.e.contextFor(soon), req)
	refusal, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		w.e.Fatalf("want a *driver.HeldError, got %v", err)
	}
	if refusal.Again <= 0 || refusal.Claim > refusal.Again || refusal.Claim > 0 && !unasked {
		w.e.Errorf("who waits is to ask again within %s, and stands for %s", refusal.Again, refusal.Claim)
	}
}

// comesFirst waits until the request is granted, or is told that it may be its turn, and then asks.
func (w *inLine) comesFirst(req driver.Request) driver.Grant {
	w.e.Helper()
	var signal <-chan struct{}
	var asks <-chan time.Time
	if w.watch != nil {
		signal = w.watch.C()
	} else {
		asks = time.Tick(10 * time.Millisecond) // it is told by an answer that is kept back until then
	}
	over := w.e.limit(soon).over
	for {
		select {
		case <-w.told:
		case <-signal:
		case <-asks:
		case <-over:
			w.e.Fatalf("%s was not told of its turn within %s", req.Owner, soon)
		}
		if g, err := w.Stand(w.e.contextFor(soon), req); err == nil { // it is the same grant, if it was told
			return g
		}
	}
}

// tryOvertakesTheLine has the lock free for a moment: the first in line has been told, and has not asked yet.
func tryOvertakesTheLine(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	req, waits := e.fairRequest(name), e.fairRequest(name)
	held := e.grant(a, req)
	w := e.store()
	e.heldBy(w, waits, held.Owner) // by Acquire: it is granted nothing unasked
	e.heldBy(a, e.tryOf(name), held.Owner)
	e.release(a, held)
	refusal := e.refusalOf(a, e.tryOf(name), waits.Owner)
	if refusal.Place > 0 || refusal.Owner != "" && !refusal.Waits {
		e.Errorf("the lock is kept for who waits, but a try is told %+v", refusal)
	}
	lease, err := b.Mutex(name, fairly()).TryLock(e.contextFor(soon))
	if !errors.Is(err, lock.ErrHeld) {
		e.Errorf("a try before who waits: %v, %v", lease, err)
	}
	e.release(w, e.grant(w, waits))
	e.release(a, e.grant(a, e.tryOf(name)))
}

// tryOf returns a request for a fair lock that does not wait.
func (e *env) tryOf(name string) driver.Request {
	req := e.fairRequest(name)
	req.Waits = false
	return req
}

// tryHasAPlace has somebody try who then never comes again.
func tryHasAPlace(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	held := e.grant(a, e.fairRequest(name))
	e.heldBy(e.store(), e.tryOf(name), held.Owner)
	if lease, err := b.Mutex(name, fairly()).TryLock(e.contextFor(soon)); !errors.Is(err, lock.ErrHeld) {
		e.Errorf("a try: %v, %v", lease, err)
	}
	e.release(a, held)
	e.release(a, e.grant(a, e.tryOf(name)))
}

// waysToWait are the two: who is granted the lock unasked, and who is only told.
func waysToWait(ttl time.Duration) []*lock.MutexOptions {
	return []*lock.MutexOptions{{Fair: true, TTL: ttl}, {Fair: true, TTL: ttl, Fixed: true}}
}

// deadWaiterHoldsUpTheLine has the first in line die a moment before its turn.
func deadWaiterHoldsUpTheLine(e *env) {
	for i, opts := range waysToWait(e.ttl) {
		e.deadInLine(e.name(numbered(i)), opts, 0, 2*e.ttl+soon)
	}
}

// longDeadWaiterHoldsUpTheLine has it die long before: nobody need wait for it any more.
func longDeadWaiterHoldsUpTheLine(e *env) {
	for i, opts := range waysToWait(e.ttl) {
		e.deadInLine(e.name(numbered(i)), opts, e.ttl+promptly, soon)
	}
}

// deadInLine has the first in line die for so long before its turn. The next one is served within so long after
// that, and those who live keep their order.
func (e *env) deadInLine(name string, opts *lock.MutexOptions, dead, within time.Duration) {
	e.Helper()
	a, b := e.client(nil), e.client(nil)
	dies, link := e.faultyClient(nil)
	held := e.lockSoon(a, name, fairly())
	ctx, cancel := context.WithCancel(e.contextFor(time.Hour))
	defer cancel()
	first := e.lineUp(ctx, dies, name, opts, 1)
	second := e.lineUp(e.contextFor(time.Hour), b, name, fairly(), 2)
	third := e.lineUp(e.contextFor(time.Hour), a, name, fairly(), 3)
	link.Freeze()
	time.Sleep(dead)
	e.unlock(held)
	lease := e.servedBefore(second, within, third)
	e.unlock(lease)
	e.unlock(e.servedBefore(third, within)) // on a slow machine the dead one may have lost its place to the second
	cancel()
	e.waitOver(first, soon)
	link.Thaw()
	if first.err == nil { // it was granted the lock, and had heard of it
		_ = first.lease.Unlock(e.background())
	}
}

// waiterWhoGaveUpHoldsUpTheLine has the first in line give up, and one in the middle.
func waiterWhoGaveUpHoldsUpTheLine(e *env) {
	for i, opts := range waysToWait(e.long) {
		a, b, name := e.client(nil), e.client(nil), e.name(numbered(i))
		held := e.lockSoon(a, name, fairly())
		ctx, cancel := context.WithCancel(e.Context())
		defer cancel()
		first := e.lineUp(ctx, b, name, opts, 1)
		second := e.lineUp(e.contextFor(time.Minute), a, name, fairly(), 2)
		third := e.lineUp(ctx, a, name, opts, 3)
		fourth := e.lineUp(e.contextFor(time.Minute), b, name, fairly(), 4)
		cancel()
		for _, w := range []*waiter{first, third} {
			if e.waitOver(w, soon); !errors.Is(w.err, context.Canceled) {
				e.Errorf("want Canceled, got %v", w.err)
			}
		}
		limit := e.limit(soon) // it is less than a place is kept for who does not leave it
		e.standInLine(b, name, 2)
		limit.check("leaving the line")
		e.unlock(held)
		e.serveInOrder(held.Token(), second, fourth)
		e.standInLine(a, name, 0)
		e.free(b, name)
	}
}

// turnIsNotTold has two wait past the front, who ask only when they are told: one after the other is granted the
// lock, or told that it is its turn.
func turnIsNotTold(e *env) {
	a, name := e.store(), e.name("a")
	for _, unasked := range []bool{true, false} {
		one, two := e.fairRequest(name), e.fairRequest(name)
		held := e.grant(a, e.fairRequest(name))
		first, second := e.inLine(one), e.inLine(two)
		first.waitInLine(one, unasked)
		second.waitInLine(two, unasked)
		e.release(a, held)
		next := first.comesFirst(one)
		e.heldBy(a, e.tryOf(name), one.Owner)
		e.release(first, next)
		e.release(second, second.comesFirst(two))
	}
}

// turnOfWhoGaveUpIsLost has somebody give up whose turn it is: the next one has to be told, or granted the lock.
func turnOfWhoGaveUpIsLost(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	leaves, comes := e.fairRequest(name), e.fairRequest(name)
	held := e.grant(a, e.fairRequest(name))
	w := e.inLine(comes)
	e.heldBy(b, leaves, held.Owner)
	w.waitInLine(comes, true)
	e.release(a, held)
	e.giveUp(b, leaves)
	e.release(w, w.comesFirst(comes))
	e.release(a, e.grant(a, e.tryOf(name)))
}

// liveWaiterLosesItsPlace has a holder keep those in line waiting for longer than a place is kept that nobody
// renews.
func liveWaiterLosesItsPlace(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	held := e.lockSoon(a, name, fairly())
	ttl := 4 * e.ttl // a machine may be late
	var line []*waiter
	for i, c := range []*lock.Client{b, a, b, a} {
		opts := waysToWait(ttl)[i/2]
		line = append(line, e.lineUp(e.contextFor(time.Hour), c, name, opts, i+1))
	}
	before := e.standInLine(a, name, len(line))
	time.Sleep(5 * ttl / 2)
	after := e.standInLine(a, name, len(line))
	same := func(x, y lock.InLine) bool { return x.Owner == y.Owner && x.Since.Equal(y.Since) }
	if !slices.EqualFunc(before, after, same) {
		e.Errorf("the line was %+v, and is %+v", before, after)
	}
	e.unlock(held)
	e.serveInOrder(held.Token(), line...)
}

// fixedLeaseIsNotServedWhole has somebody wait for a lease that is not renewed: it must not begin with the short
// life of what is granted unasked.
func fixedLeaseIsNotServedWhole(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	held := e.lockSoon(a, name, fairly())
	waiting := e.lineUp(e.contextFor(time.Minute), b, name, waysToWait(e.long)[1], 1)
	e.unlock(held)
	lease := e.served(waiting, soon)
	least := 6 * e.long / 10
	if refusal := e.refusal(a.Mutex(name, fairly())); !refusal.Until.IsZero() && time.Until(refusal.Until) < least {
		e.Errorf("a lease of %s ends after %s", e.long, time.Until(refusal.Until))
	}
	if e.virtual {
		time.Sleep(least)
	}
	if err := lease.Err(); err != nil {
		e.Errorf("a lease of %s has ended before %s: %v", e.long, least, err)
	}
	e.unlock(lease)
}

// placeIsNotTold has some wait past the front, who ask again, and move up.
func placeIsNotTold(e *env) {
	a, name := e.store(), e.name("a")
	held := e.grant(a, e.fairRequest(name))
	var line []driver.Request
	newest := held.Token + uint64(held.Tokens) - 1
	for i := range 3 {
		line = append(line, e.fairRequest(name))
		refusal := e.refusalOf(a, line[i], held.Owner)
		if refusal.Place != i+1 || refusal.Waits || refusal.Again <= 0 || refusal.Token < newest {
			e.Errorf("the %d. of the line is told %+v, the newest token is %d", i+1, refusal, newest)
		}
	}
	for i, req := range line {
		if refusal := e.refusalOf(a, req, held.Owner); refusal.Place != i+1 {
			e.Errorf("the %d. of the line asks again, and is at %d", i+1, refusal.Place)
		}
	}
	e.giveUp(a, line[1])
	if refusal := e.refusalOf(a, line[2], held.Owner); refusal.Place != 2 {
		e.Errorf("the second has left, and the third is at %d", refusal.Place)
	}
	e.release(a, held)
	one := e.grant(a, line[0])
	if refusal := e.refusalOf(a, line[2], one.Owner); refusal.Place != 1 {
		e.Errorf("the first has the lock, and the next one is at %d", refusal.Place)
	}
	e.release(a, one)
	e.release(a, e.grant(a, line[2]))
}

// lineIsNotShown looks at who waits, with what they would store, while the lock is held, and when it is free.
func lineIsNotShown(e *env) {
	a, c, name := e.store(), e.client(nil), e.name("a")
	held := e.grant(a, e.fairRequest(name))
	line := []driver.Request{e.fairRequest(name), e.fairRequest(name)}
	for _, req := range line {
		e.heldBy(a, req, held.Owner)
	}
	for _, release := range []bool{false, true} {
		if release {
			e.release(a, held)
		}
		shown := e.standInLine(c, name, len(line))
		for i, req := range line {
			if shown[i].Owner != e.told(req.Owner) || shown[i].Meta["host"] != "h" {
				e.Errorf("the %d. of the line is %q, shown as %+v", i+1, req.Owner, shown[i])
			}
		}
		infos, err := c.List(e.contextFor(soon), e.prefix, 10)
		if err != nil || len(infos) > 0 == release {
			e.Errorf("released %v: listed as %+v, error %v", release, infos, err)
		}
	}
	for _, req := range line {
		e.release(a, e.grant(a, req))
	}
	e.standInLine(c, name, 0)
}

// forcedReleaseSkipsTheLine takes the lock away from who has it: it is that of the first in line then.
func forcedReleaseSkipsTheLine(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	for _, unasked := range []bool{true, false} {
		victim := e.lockSoon(a, name, fairly())
		one, two := e.fairRequest(name), e.fairRequest(name)
		first, second := e.inLine(one), e.inLine(two)
		first.waitInLine(one, unasked)
		second.waitInLine(two, unasked)
		if held, err := b.ForceRelease(e.contextFor(soon), name); err != nil || !held {
			e.Fatalf("force release: held %v, error %v", held, err)
		}
		g := first.comesFirst(one)
		if g.Token <= victim.Token()+1 {
			e.Errorf("the victim's token is %d, the next holder's %d: none was skipped", victim.Token(), g.Token)
		}
		e.lost(victim.Unlock(e.contextFor(soon)))
		e.release(first, g)
		e.release(second, second.comesFirst(two))
	}
}

// lineForgetsWhoHoldsTheLock has the holder ask again, whose answer was lost, while others wait.
func lineForgetsWhoHoldsTheLock(e *env) {
	a, name := e.store(), e.name("a")
	req, waits := e.fairRequest(name), e.fairRequest(name)
	held := e.grant(a, req)
	e.heldBy(a, waits, held.Owner)
	again := e.grant(a, req)
	if again.Token < held.Token || again.Token > held.Token+uint64(held.Tokens)-1 {
		e.Errorf("asked for again, the token is %d, not %d", again.Token, held.Token)
	}
	e.release(a, again)
	e.release(a, e.grant(a, waits))
}
