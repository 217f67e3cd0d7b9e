package locktest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// sharing: many readers, or one writer.
func sharing() []behaviour {
	needs := []Capability{Sharing}
	return []behaviour{
		{name: "ReadersExcludeEachOther", run: readersExcludeEachOther, needs: needs},
		{name: "WriterMeetsAReader", run: writerMeetsAReader, needs: needs},
		{name: "WritersMeet", run: writersMeet, needs: needs},
		{name: "ReadersAndWritersContend", run: readersAndWritersContend, needs: needs},
		{name: "TokensOfReadersAndWritersMixUp", run: tokensOfReadersAndWritersMixUp, needs: needs},
		{name: "DeadReaderIsKeptAliveByOthers", run: deadReaderIsKeptAliveByOthers, needs: needs},
		{name: "DeadReaderTakesTheLivingAlong", run: deadReaderTakesTheLivingAlong, needs: needs},
		{name: "RenewedReadersExpire", run: renewedReadersExpire, needs: needs},
		{name: "ReleaseOfAReaderFreesOthers", run: releaseOfAReaderFreesOthers, needs: needs},
		{name: "StrangerReleasesAReader", run: strangerReleasesAReader, needs: needs},
		{name: "RetriedReaderCountsTwice", run: retriedReaderCountsTwice, needs: needs},
		{name: "LastReaderWakesNobody", run: lastReaderWakesNobody, needs: append(needs, Watching)},
		{name: "WriterWakesOneReader", run: writerWakesOneReader, needs: append(needs, Watching)},
		{name: "WriterIsStarved", run: writerIsStarved, needs: needs},
		{name: "WriterPassesReadersWhoWait", run: writerPassesReadersWhoWait, needs: needs},
		{name: "WriterWhoGaveUpKeepsReadersOff", run: writerWhoGaveUpKeepsReadersOff, needs: needs},
		{name: "DeadWriterKeepsReadersOff", run: deadWriterKeepsReadersOff, needs: needs},
		{name: "ReadersAreNotShown", run: readersAreNotShown, needs: append(needs, Inspecting)},
	}
}

func readersExcludeEachOther(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	here, there := a.RWMutex(name, nil), b.RWMutex(name, nil)
	for _, l := range []lock.Lockable{here.Reader(), here.Reader(), there.Reader(), there.Reader()} {
		defer e.unlock(e.takeSoon(l))
	}
}

func writerMeetsAReader(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	here, there := a.RWMutex(name, nil), b.RWMutex(name, nil)
	r := e.takeSoon(here.Reader())
	e.refusedTo(here.Writer())
	e.refusedTo(there.Writer())
	e.unlock(r)
	w := e.takeSoon(there.Writer())
	e.refusedTo(here.Reader())
	e.refusedTo(there.Reader())
	e.unlock(w)
	e.freeTo(here.Reader())
}

func writersMeet(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	w := e.takeSoon(a.RWMutex(name, nil).Writer())
	if held := e.refusal(b.RWMutex(name, nil).Writer()); held.Owner != "" && held.Owner != e.told(w.Owner()) {
		e.Errorf("held by %q, but the error names %q", w.Owner(), held.Owner)
	}
	e.refusedTo(a.RWMutex(name, nil).Writer())
	e.unlock(w)
	e.freeTo(b.RWMutex(name, nil).Writer())
}

// readersAndWritersContend counts who is inside, by the memory of this process.
func readersAndWritersContend(e *env) {
	name := e.name("a")
	inside := &room{}
	var all sync.WaitGroup
	for i := range 3 {
		c := e.client(nil)
		for j := range 4 {
			rw := c.RWMutex(name, nil)
			all.Go(func() {
				for n := range 12 {
					writes := (i+j+n)%3 == 0
					side := rw.Reader()
					if writes {
						side = rw.Writer()
					}
					lease, err := side.Lock(e.contextFor(cleanUp))
					if err != nil {
						e.Errorf("lock: %v", err)
						return
					}
					inside.enterRoom(e, writes)
					time.Sleep(time.Millisecond)
					inside.leaveRoom(writes)
					if err := lease.Unlock(e.contextFor(cleanUp)); err != nil {
						e.Errorf("unlock: %v", err)
					}
				}
			})
		}
	}
	all.Wait()
}

// room is who has a read-write lock.
type room struct {
	mu               sync.Mutex
	readers, writers int
}

func (r *room) enterRoom(e *env, writes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if writes {
		r.writers++
	} else {
		r.readers++
	}
	if r.writers > 1 || r.writers == 1 && r.readers > 0 {
		e.Errorf("inside are %d readers and %d writers", r.readers, r.writers)
	}
}

func (r *room) leaveRoom(writes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if writes {
		r.writers--
	} else {
		r.readers--
	}
}

func tokensOfReadersAndWritersMixUp(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	highest := uint64(0)
	for round := range 4 {
		readers := make([]driver.Grant, 0, 3)
		for i := range 3 {
			req := e.requestIn(driver.Shared, name, e.long)
			req.Tokens = 1 + i
			readers = append(readers, e.grant([]driver.Backend{a, b}[(round+i)%2], req))
		}
		above := highest
		for _, r := range readers {
			if r.Token <= above {
				e.Errorf("a reader's token is %d, a writer had %d before", r.Token, above)
			}
			highest = max(highest, r.Token+uint64(r.Tokens)-1)
			e.release(a, r)
		}
		w := e.grant(b, e.requestIn(driver.Write, name, e.long))
		if w.Token <= highest {
			e.Errorf("a writer's token is %d, readers had %d before", w.Token, highest)
		}
		highest = w.Token
		e.release(b, w)
	}
}

// deadReaderIsKeptAliveByOthers: of two readers one dies, and the other goes on for long, and then leaves.
func deadReaderIsKeptAliveByOthers(e *env) {
	a, b, name := e.store(), e.client(&lock.Options{TTL: e.ttl}), e.name("a")
	e.grant(a, e.requestIn(driver.Shared, name, e.ttl))
	living := e.takeSoon(b.RWMutex(name, nil).Reader())
	time.Sleep(e.ttl + promptly)
	e.refusedTo(e.client(nil).RWMutex(name, nil).Writer())
	e.unlock(living)
	e.freeTo(b.RWMutex(name, nil).Writer())
}

func deadReaderTakesTheLivingAlong(e *env) {
	a, b, name := e.store(), e.client(&lock.Options{TTL: e.long}), e.name("a")
	living := e.takeSoon(b.RWMutex(name, nil).Reader())
	e.grant(a, e.requestIn(driver.Shared, name, e.ttl))
	time.Sleep(e.ttl + promptly)
	e.refusedTo(e.client(nil).RWMutex(name, nil).Writer())
	if err := living.Err(); err != nil {
		e.Errorf("the lease of a living reader has ended: %v", err)
	}
	e.unlock(living)
}

func renewedReadersExpire(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.ttl}), e.client(nil), e.name("a")
	rw := a.RWMutex(name, nil)
	for _, side := range []lock.Lockable{rw.Reader(), rw.Writer()} {
		lease := e.takeSoon(side)
		e.always(3*e.ttl, func() {
			if err := lease.Err(); err == nil {
				e.refusedTo(b.RWMutex(name, nil).Writer())
			}
		})
		e.unlock(lease)
	}
}

func releaseOfAReaderFreesOthers(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	one := e.grant(a, e.requestIn(driver.Shared, name, e.long))
	two := e.grant(b, e.requestIn(driver.Shared, name, e.long))
	e.release(a, one)
	e.release(a, one) // it may be repeated
	e.heldBy(a, e.requestIn(driver.Write, name, e.long), two.Owner)
	e.release(b, two)
	e.release(a, one)
	e.release(a, e.grant(a, e.requestIn(driver.Write, name, e.long)))
}

func strangerReleasesAReader(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	reader := e.grant(a, e.requestIn(driver.Shared, name, e.long))
	for _, mode := range []driver.Mode{driver.Shared, driver.Write} {
		e.giveUp(b, e.requestIn(mode, name, e.long))
	}
	e.heldBy(b, e.requestIn(driver.Write, name, e.long), reader.Owner)
	e.release(a, reader)
}

func retriedReaderCountsTwice(e *env) {
	a, name := e.store(), e.name("a")
	for _, mode := range []driver.Mode{driver.Shared, driver.Write} {
		req := e.requestIn(mode, name, e.long)
		first := e.grant(a, req)
		again := e.grant(a, req)
		if again.Token < first.Token || again.Token > first.Token+uint64(first.Tokens)-1 {
			e.Errorf("mode %s: asked for again, the token is %d, not %d", mode, again.Token, first.Token)
		}
		e.release(a, first)
		e.release(a, e.grant(a, e.requestIn(driver.Write, name, e.long)))
	}
}

func lastReaderWakesNobody(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	one, two := e.takeSoon(a.RWMutex(name, nil).Reader()), e.takeSoon(e.client(nil).RWMutex(name, nil).Reader())
	waiting := e.startTaking(e.contextFor(cleanUp), b.RWMutex(name, nil).Writer())
	time.Sleep(promptly)
	e.unlock(one)
	e.unlock(two)
	e.unlock(e.served(waiting, soon))
}

func writerWakesOneReader(e *env) {
	a, name := e.client(&lock.Options{TTL: e.long}), e.name("a")
	w := e.takeSoon(a.RWMutex(name, nil).Writer())
	var waiting []*waiter
	for range 3 {
		c := e.client(nil)
		waiting = append(waiting, e.startTaking(e.contextFor(cleanUp), c.RWMutex(name, nil).Reader()))
	}
	time.Sleep(promptly)
	e.unlock(w)
	for _, w := range waiting {
		defer e.unlock(e.served(w, soon))
	}
}

// writerIsStarved: readers of several processes come and go, so that there always are some.
func writerIsStarved(e *env) {
	name := e.name("a")
	ctx, end := context.WithCancel(e.Context())
	var readers sync.WaitGroup
	defer readers.Wait()
	defer end()
	for i := range 4 {
		rw := e.client(nil).RWMutex(name, nil)
		readers.Go(func() {
			time.Sleep(time.Duration(i) * 25 * time.Millisecond)
			for ctx.Err() == nil {
				lease, err := rw.RLock(ctx)
				if err != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
				_ = lease.Unlock(e.background())
			}
		})
	}
	time.Sleep(2 * promptly)
	w := e.client(nil).RWMutex(name, nil)
	for range 3 {
		e.unlock(e.takeSoon(w.Writer()))
	}
}

func writerWhoGaveUpKeepsReadersOff(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	reader := e.takeSoon(a.RWMutex(name, nil).Reader())
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	waiting := e.startTaking(ctx, b.RWMutex(name, nil).Writer())
	c := e.client(nil).RWMutex(name, nil)
	e.eventually("a writer that waits keeps readers off", func() bool {
		lease, err := c.TryRLock(e.contextFor(soon))
		if err == nil {
			e.unlock(lease)
		}
		return err != nil
	})
	if held := e.refusal(c.Reader()); held.Owner != "" && !held.Waits {
		e.Errorf("kept for a writer, but told is: %v", held)
	}
	cancel()
	e.waitOver(waiting, soon)
	e.unlock(e.takeSoon(c.Reader()))
	e.unlock(reader)
}

// writerPassesReadersWhoWait: after a writer it is their turn, until they have come, or have given up.
func writerPassesReadersWhoWait(e *env) {
	a, name := e.store(), e.name("a")
	first, next := e.grant(a, e.requestIn(driver.Write, name, e.long)), e.requestIn(driver.Write, name, e.long)
	comes, leaves := e.requestIn(driver.Shared, name, e.long), e.requestIn(driver.Shared, name, e.long)
	next.Waits, comes.Waits, leaves.Waits = true, true, true
	for _, req := range []driver.Request{next, comes, leaves} {
		e.heldBy(a, req, first.Owner)
	}
	began := time.Now()
	e.release(a, first)
	// A turn is short: on a slow machine it may be over before the writer has asked, or before the reader has.
	inTurn := func() bool { return time.Since(began) < promptly/4 }
	if g, err := a.Acquire(e.contextFor(soon), next); err == nil {
		if inTurn() {
			e.Errorf("a writer passes readers who wait: token %d", g.Token)
		}
		e.release(a, g)
		return
	}
	reader, err := a.Acquire(e.contextFor(soon), comes)
	if err == nil {
		e.giveUp(a, leaves)
		e.release(a, reader)
	} else if inTurn() || !errors.Is(err, driver.ErrHeld) {
		e.Errorf("a reader does not come in its turn: %v", err)
	}
	e.release(a, e.grant(a, next))
}

// deadWriterKeepsReadersOff: a writer has waited, and is heard of no more.
func deadWriterKeepsReadersOff(e *env) {
	a, name := e.store(), e.name("a")
	reader := e.grant(a, e.requestIn(driver.Shared, name, e.long))
	writer := e.requestIn(driver.Write, name, e.long)
	writer.Waits = true
	refusal := e.refusalOf(a, writer, reader.Owner)
	if refusal.Again <= 0 || refusal.Again > cleanUp {
		e.Fatalf("a writer that waits is to ask again within %s", refusal.Again)
	}
	waiting := e.startTaking(e.contextFor(2*cleanUp), e.client(nil).RWMutex(name, nil).Reader())
	e.unlock(e.served(waiting, refusal.Again+soon))
	e.release(a, reader)
}

func readersAreNotShown(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	one := e.takeSoon(a.RWMutex(name, &lock.RWMutexOptions{Meta: map[string]string{"job": "x"}}).Reader())
	two := e.takeSoon(b.RWMutex(name, nil).Reader())
	info, err := b.Inspect(e.contextFor(soon), name)
	if err != nil || info.Kind != driver.ReadWrite || len(info.Holders) != 2 || info.Token < two.Token() {
		e.Fatalf("two readers are shown as %+v, error %v", info, err)
	}
	for _, h := range info.Holders {
		switch {
		case h.Mode != driver.Shared, h.Upgradeable, h.TTL <= 0, h.TTL > 20*e.long:
			e.Errorf("a reader is shown as %+v", h)
		case h.Owner == e.told(one.Owner()):
			if h.Meta["job"] != "x" || h.Meta["pid"] == "" {
				e.Errorf("metadata %v", h.Meta)
			}
		case h.Owner != e.told(two.Owner()):
			e.Errorf("a reader is shown as %+v", h)
		}
	}
	e.unlock(one)
	e.unlock(two)
	w := e.takeSoon(b.RWMutex(name, nil).Writer())
	if info, err = a.Inspect(e.contextFor(soon), name); err != nil {
		e.Fatal(err)
	}
	if h := e.onlyHolder(info); h.Mode != driver.Write || h.Owner != e.told(w.Owner()) {
		e.Errorf("a writer is shown as %+v", h)
	}
	e.unlock(w)
}
