package locktest

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// upgrading: a reader becomes a writer, and a writer a reader, with nobody in between.
func upgrading() []behaviour {
	needs := []Capability{Sharing}
	return []behaviour{
		{name: "UpgradeableReadersMeet", run: upgradeableReadersMeet, needs: needs},
		{name: "UpgradeMeetsReaders", run: upgradeMeetsReaders, needs: needs},
		{name: "UpgradeLetsAWriterIn", run: upgradeLetsAWriterIn, needs: needs},
		{name: "UpgradeOverNobody", run: upgradeOverNobody, needs: needs},
		{name: "UpgradesLetEachOtherIn", run: upgradesLetEachOtherIn, needs: needs},
		{name: "WriterIsKeptByItsReader", run: writerIsKeptByItsReader, needs: needs},
		{name: "DowngradeLetsAWriterIn", run: downgradeLetsAWriterIn, needs: needs},
		{name: "DowngradeWakesNobody", run: downgradeWakesNobody, needs: append(needs, Watching)},
	}
}

func upgradeableReadersMeet(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.ttl}), e.client(nil), e.name("a")
	one, err := a.RWMutex(name, nil).RLockUpgradeable(e.contextFor(cleanUp))
	if err != nil {
		e.Fatal(err)
	}
	other := b.RWMutex(name, nil)
	e.always(2*e.ttl, func() {
		lease, err := other.TryRLockUpgradeable(e.contextFor(soon))
		if !errors.Is(err, lock.ErrHeld) && one.Err() == nil {
			e.Fatalf("a second upgradeable reader: %v, %v", lease, err)
		}
	})
	e.freeTo(other.Reader())
	e.unlock(one)
	two, err := other.TryRLockUpgradeable(e.contextFor(soon))
	if err != nil {
		e.Fatalf("the one before has left: %v", err)
	}
	e.unlock(two)
}

func upgradeMeetsReaders(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	up, err := a.RWMutex(name, nil).RLockUpgradeable(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	reader := e.takeSoon(b.RWMutex(name, nil).Reader())
	if lease, err := up.TryUpgrade(e.contextFor(soon)); !errors.Is(err, lock.ErrHeld) {
		e.Fatalf("an upgrade beside a reader: %v, %v", lease, err)
	}
	waiting := &waiter{done: make(chan struct{})}
	go func() {
		defer close(waiting.done)
		waiting.lease, waiting.err = up.Upgrade(e.contextFor(cleanUp))
	}()
	time.Sleep(promptly)
	e.unlock(reader)
	w := e.served(waiting, soon)
	e.refusedTo(b.RWMutex(name, nil).Reader())
	if w.Token() <= reader.Token() || w.Token() <= up.Token() {
		e.Errorf("a writer's token is %d, readers had %d and %d before", w.Token(), reader.Token(), up.Token())
	}
	e.unlock(w)
	e.freeTo(b.RWMutex(name, nil).Reader())
	e.unlock(up)
	e.freeTo(b.RWMutex(name, nil).Writer())
}

// upgradeLetsAWriterIn: while a reader waits to write, and while it goes back to read, no other writer comes.
func upgradeLetsAWriterIn(e *env) { e.prove(e.writesAgainAndAgain) }

func (e *env) writesAgainAndAgain(p *proof) error {
	defer p.watchPace()()
	a, b, name := e.client(&lock.Options{TTL: p.ttl}), e.client(nil), e.name("held for "+p.ttl.String())
	up, err := a.RWMutex(name, nil).RLockUpgradeable(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	other := e.startTaking(e.contextFor(10*p.ttl+cleanUp), b.RWMutex(name, nil).Writer())
	time.Sleep(promptly)
	for range 3 {
		w, err := up.Upgrade(e.contextFor(cleanUp))
		if err == nil {
			time.Sleep(2 * p.ttl)
			err = w.Unlock(e.contextFor(soon))
		}
		if err = cmp.Or(err, cameIn(other)); err != nil {
			return e.letIn(p, other, up, err)
		}
	}
	return e.letIn(p, other, up, nil)
}

// cameIn is an error if a writer has the lock who was to wait.
func cameIn(w *waiter) error {
	select {
	case <-w.done:
		return fmt.Errorf("a writer came in while the lock was read: %w", cmp.Or(w.err, errors.New("it has the lock")))
	default:
		return nil
	}
}

// letIn unlocks what is read, after what has failed before if anything did, and lets the writer in who waits.
func (e *env) letIn(p *proof, writer *waiter, reads *lock.Lease, failed error) error {
	within := soon
	if err := cmp.Or(failed, reads.Unlock(e.contextFor(soon))); err != nil {
		failed, within = err, p.ttl+cleanUp
	}
	e.unlock(e.served(writer, within))
	return failed
}

func upgradeOverNobody(e *env) {
	a, name := e.store(), e.name("a")
	reader := e.grant(a, e.requestIn(driver.Shared, name, e.long))
	for _, over := range []string{newOwner(), reader.Owner} { // one is not there, one is not upgradeable
		req := e.requestIn(driver.Write, name, e.long)
		req.Over = over
		if g, err := a.Acquire(e.contextFor(soon), req); !errors.Is(err, driver.ErrBelow) {
			e.Errorf("an upgrade over what is not there: token %d, %v", g.Token, err)
		}
	}
	down := e.requestIn(driver.Shared, name, e.long)
	down.Over = reader.Owner
	if g, err := a.Acquire(e.contextFor(soon), down); !errors.Is(err, driver.ErrBelow) {
		e.Errorf("a downgrade of a reader: token %d, %v", g.Token, err)
	}
	e.release(a, reader)
	e.release(a, e.grant(a, e.requestIn(driver.Write, name, e.long)))
}

// upgradesLetEachOtherIn: two read and upgrade in turn, and a writer waits. Between them it is the writer's turn.
func upgradesLetEachOtherIn(e *env) {
	a, name := e.store(), e.name("a")
	one, two := e.requestIn(driver.Shared, name, e.long), e.requestIn(driver.Shared, name, e.long)
	one.Upgradeable, two.Upgradeable, two.Waits = true, true, true
	writer := e.requestIn(driver.Write, name, e.long)
	writer.Waits = true
	reads := e.grant(a, one)
	e.heldBy(a, writer, reads.Owner)
	e.heldBy(a, two, reads.Owner, writer.Owner)
	upgrade := e.requestIn(driver.Write, name, e.long)
	upgrade.Over = reads.Owner
	writes := e.grant(a, upgrade)
	e.heldBy(a, two, reads.Owner, writer.Owner, writes.Owner)
	e.release(a, writes)
	e.release(a, reads)
	e.heldBy(a, two, writer.Owner)
	e.release(a, e.grant(a, writer))
	e.release(a, e.grant(a, two))
}

// writerIsKeptByItsReader: a writer over a reader, and one under it, are not heard of again, while that reader lives.
func writerIsKeptByItsReader(e *env) {
	a := e.store()
	up, down := e.name("up"), e.name("down")
	reader, writer := e.requestIn(driver.Shared, up, e.long), e.requestIn(driver.Write, up, e.ttl)
	reader.Upgradeable, writer.Over = true, reader.Owner
	e.writerDies(a, reader, writer)
	writer, reader = e.requestIn(driver.Write, down, e.ttl), e.requestIn(driver.Shared, down, e.long)
	reader.Over = writer.Owner
	e.writerDies(a, writer, reader)
}

// writerDies checks that nobody is kept off by the writer of two grants when its time is over, and that the reader
// has its own still.
func (e *env) writerDies(a driver.Backend, first, second driver.Request) {
	e.Helper()
	reading := e.grant(a, first)
	if other := e.grant(a, second); other.Mode == driver.Shared {
		reading = other
	}
	again := e.client(nil).RWMutex(reading.Name, nil)
	e.refusedTo(again.Reader())
	limited := e.contextFor(e.ttl + soon)
	e.unlock(e.served(e.startTaking(limited, again.Reader()), e.ttl+soon))
	e.refusedTo(again.Writer())
	if err := a.Renew(e.contextFor(soon), []driver.Grant{reading})[0]; err != nil {
		e.Errorf("the reader is lost with its writer: %v", err)
	}
	e.release(a, reading)
	e.freeTo(again.Writer())
}

func downgradeLetsAWriterIn(e *env) { e.prove(e.readsOn) }

func (e *env) readsOn(p *proof) error {
	defer p.watchPace()()
	a, b, name := e.client(&lock.Options{TTL: p.ttl}), e.client(nil), e.name("held for "+p.ttl.String())
	w := e.takeSoon(a.RWMutex(name, nil).Writer())
	other := e.startTaking(e.contextFor(10*p.ttl+cleanUp), b.RWMutex(name, nil).Writer())
	time.Sleep(promptly)
	r, err := w.Downgrade(e.Context())
	if err != nil {
		return e.letIn(p, other, w, err)
	}
	for end := time.Now().Add(2 * p.ttl); err == nil && time.Now().Before(end); time.Sleep(p.ttl / 10) {
		err = cameIn(other)
	}
	return e.letIn(p, other, r, err)
}

func downgradeWakesNobody(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.long}), e.client(nil), e.name("a")
	w := e.takeSoon(a.RWMutex(name, nil).Writer())
	reader := e.startTaking(e.contextFor(cleanUp), b.RWMutex(name, nil).Reader())
	time.Sleep(promptly)
	r, err := w.Downgrade(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	e.unlock(e.served(reader, soon))
	e.unlock(r)
}
