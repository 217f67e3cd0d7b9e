package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// downgrading: a grant to write becomes one to read, and stays what it is.
func downgrading() []behaviour {
	needs := []Capability{Sharing, Downgrading}
	return []behaviour{
		{name: "DowngradedWriterKeepsReadersOff", run: downgradedWriterKeepsReadersOff, needs: needs},
		{name: "DowngradedWriterIsLost", run: downgradedWriterIsLost, needs: needs},
		{name: "DowngradedWriterLivesForEver", run: downgradedWriterLivesForEver, needs: needs},
		{name: "DowngradedWriterIsShownAsOne", run: downgradedWriterIsShownAsOne, needs: append(needs, Inspecting)},
		{name: "DowngradeRevivesAGrant", run: downgradeRevivesAGrant, needs: needs},
		{name: "DowngradePassesReadersWhoWait", run: downgradePassesReadersWhoWait, needs: append(needs, Watching)},
		{name: "ReadersOfAWritersProcessKeepOthersOff", run: readersOfAWritersProcessKeepOthersOff, needs: needs},
	}
}

// downgraded returns a grant to write that has become one to read; more often than once changes nothing.
func (e *env) downgraded(b driver.Backend, name string, ttl time.Duration) driver.Grant {
	e.Helper()
	g := e.grant(b, e.requestIn(driver.Write, name, ttl))
	for range 2 {
		if err := b.(driver.Downgrader).Downgrade(e.contextFor(soon), g); err != nil {
			e.Fatal(err)
		}
	}
	return g
}

func downgradedWriterKeepsReadersOff(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	g := e.downgraded(a, name, e.long)
	reader := e.grant(b, e.requestIn(driver.Shared, name, e.long))
	if reader.Token <= g.Token {
		e.Errorf("a reader's token is %d, that of the writer before is %d", reader.Token, g.Token)
	}
	e.heldBy(b, e.requestIn(driver.Write, name, e.long), g.Owner, reader.Owner)
	e.release(b, reader)
	e.heldBy(b, e.requestIn(driver.Write, name, e.long), g.Owner)
	e.release(a, g)
	e.release(b, e.grant(b, e.requestIn(driver.Write, name, e.long)))
}

// downgradedWriterIsLost does with the grant all that is done with one to write.
func downgradedWriterIsLost(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	g := e.downgraded(a, name, e.ttl)
	e.always(2*e.ttl, func() {
		if err := a.Renew(e.contextFor(soon), []driver.Grant{g})[0]; err != nil {
			e.Fatalf("renewal: %v", err)
		}
		time.Sleep(e.ttl / 8)
	})
	e.heldBy(b, e.requestIn(driver.Write, name, e.long), g.Owner)
	if !e.lacks(Noting) {
		if err := a.Annotate(e.contextFor(soon), g, `{"note":"reads"}`); err != nil {
			e.Errorf("annotate: %v", err)
		}
	}
	e.release(a, g)
	if _, err := a.Release(e.contextFor(soon), g); err != nil && !errors.Is(err, driver.ErrLost) {
		e.Errorf("released once more: %v", err)
	}
	e.release(b, e.grant(b, e.requestIn(driver.Write, name, e.long)))
}

func downgradedWriterLivesForEver(e *env) {
	a, name := e.store(), e.name("a")
	e.downgraded(a, name, e.ttl)
	reader := e.grant(a, e.requestIn(driver.Shared, name, e.long))
	writer := e.startTaking(e.contextFor(2*e.ttl+cleanUp), e.client(nil).RWMutex(name, nil).Writer())
	time.Sleep(2 * e.ttl)
	e.release(a, reader)
	e.unlock(e.served(writer, soon))
}

func downgradedWriterIsShownAsOne(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	g := e.downgraded(a, name, e.long)
	info, err := b.Inspect(e.contextFor(soon), name)
	if err != nil || len(info.Holders) != 1 {
		e.Fatalf("%+v, %v", info, err)
	}
	h := info.Holders[0]
	if h.Mode != driver.Shared || h.TTL <= 0 || h.TTL > e.long {
		e.Errorf("it is shown as %+v", h)
	}
	e.release(a, g)
}

// downgradeRevivesAGrant downgrades what nobody has, and what somebody else has.
func downgradeRevivesAGrant(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	over := e.grant(a, e.requestIn(driver.Write, name, e.long))
	e.release(a, over)
	lost := func(g driver.Grant) {
		e.Helper()
		if err := a.Downgrade(e.contextFor(soon), g); !errors.Is(err, driver.ErrLost) {
			e.Errorf("%v, want %v", err, driver.ErrLost)
		}
	}
	lost(over)
	w := e.grant(b, e.requestIn(driver.Write, name, e.long))
	lost(over)
	e.heldBy(a, e.requestIn(driver.Shared, name, e.long), w.Owner)
	e.release(b, w)
	r := e.grant(b, e.requestIn(driver.Shared, name, e.long))
	lost(over)
	if err := b.Downgrade(e.contextFor(soon), r); !errors.Is(err, driver.ErrRefused) {
		e.Errorf("a reader is downgraded: %v", err)
	}
	e.release(b, r)
	e.release(b, e.grant(b, e.requestIn(driver.Write, name, e.long)))
}

// downgradePassesReadersWhoWait: they hear of it, and come before a writer who has waited for as long.
func downgradePassesReadersWhoWait(e *env) {
	a, name := e.store(), e.name("a")
	w := e.grant(a, e.requestIn(driver.Write, name, e.long))
	reader := e.startTaking(e.contextFor(cleanUp), e.client(nil).RWMutex(name, nil).Reader())
	time.Sleep(promptly)
	writer := e.startTaking(e.contextFor(cleanUp), e.client(nil).RWMutex(name, nil).Writer())
	time.Sleep(promptly)
	if err := a.Downgrade(e.contextFor(soon), w); err != nil {
		e.Fatal(err)
	}
	lease := e.served(reader, soon)
	e.release(a, w)
	e.unlock(lease)
	e.unlock(e.served(writer, soon))
}

// readersOfAWritersProcessKeepOthersOff: a writer's process goes on to read, and after its turn readers elsewhere and
// new ones there are let in; what it has is renewed, and keeps writers off.
func readersOfAWritersProcessKeepOthersOff(e *env) {
	turn := lock.HandOff{Time: soon / 4}
	a, b, name := e.client(&lock.Options{TTL: e.ttl, HandOff: turn}), e.client(nil), e.name("a")
	here, there := a.RWMutex(name, nil), b.RWMutex(name, nil)
	first := e.takeSoon(here.Writer())
	writer := e.startTaking(e.contextFor(cleanUp), here.Writer())
	e.queued(a, name, 1)
	reader := e.startTaking(e.contextFor(cleanUp), here.Reader())
	e.queued(a, name, 2)
	e.unlock(first)
	w := e.served(writer, soon)
	e.unlock(w)
	reads := e.served(reader, soon)
	if reads.Token() <= w.Token() {
		e.Errorf("a reader's token is %d, that of the writer before is %d", reads.Token(), w.Token())
	}
	elsewhere := e.takeSoon(there.Reader())
	beside := e.takeSoon(here.Reader())
	e.always(2*e.ttl, func() {
		if err := errors.Join(reads.Err(), elsewhere.Err(), beside.Err()); err != nil {
			e.Fatal(err)
		}
		e.refusedTo(there.Writer())
		time.Sleep(e.ttl / 4)
	})
	e.unlock(beside)
	e.unlock(elsewhere)
	e.refusedTo(there.Writer())
	e.unlock(reads)
	e.freeTo(there.Writer())
}
