package locktest

import (
	"errors"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// bundling: several locks of one step are granted all or none.
func bundling() []behaviour {
	needs := []Capability{Bundling}
	return []behaviour{
		{name: "SomeOfSeveralAreGranted", run: someOfSeveralAreGranted, needs: needs},
		{name: "SeveralAreGrantedTwice", run: severalAreGrantedTwice, needs: needs},
		{name: "SeveralTokensGoBack", run: severalTokensGoBack, needs: needs},
		{name: "SeveralMixKinds", run: severalMixKinds, needs: append(needs, Sharing)},
		{name: "UnsoundBundleIsGranted", run: unsoundBundleIsGranted, needs: needs},
		{name: "LostReplyLeavesSeveral", run: lostReplyLeavesSeveral, needs: needs},
	}
}

// bundle returns requests for locks that every store can grant in one step: they have one hash tag.
func (e *env) bundle(names ...string) (reqs []driver.Request) {
	for _, name := range names {
		reqs = append(reqs, e.request(e.name("{tag}/"+name), e.long))
	}
	return reqs
}

// grantAll takes locks that are free.
func (e *env) grantAll(b *bedrocktest.Backend, reqs []driver.Request) []driver.Grant {
	e.Helper()
	grants, err := b.AcquireAll(e.contextFor(soon), reqs)
	if err != nil || len(grants) != len(reqs) {
		e.Fatalf("%d grants of %d: %v", len(grants), len(reqs), err)
	}
	for i, g := range grants {
		if g.Name != reqs[i].Name || g.Owner != reqs[i].Owner || g.Token == 0 || g.Tokens < 1 || g.TTL != reqs[i].TTL {
			e.Errorf("request %+v has the grant %+v", reqs[i], g)
		}
	}
	return grants
}

// refusedAll checks that a bundle is refused since a lock of that name is held by that owner.
func (e *env) refusedAll(b *bedrocktest.Backend, reqs []driver.Request, name, owner string) {
	e.Helper()
	grants, err := b.AcquireAll(e.contextFor(soon), reqs)
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok || held.Name != name || held.Owner != e.told(owner) || len(grants) != 0 {
		e.Errorf("%d grants, and %+v; want none, since %q is held by %s", len(grants), err, name, owner)
	}
}

// someOfSeveralAreGranted asks for locks of which one is held.
func someOfSeveralAreGranted(e *env) {
	a, b, c := e.store(), e.store(), e.client(nil)
	all := e.bundle("a", "b", "c")
	if !a.Together([]string{all[0].Name, all[1].Name, all[2].Name}) {
		e.Error("they are not to be had in one step")
	}
	for i := range all {
		held := e.grant(a, e.request(all[i].Name, e.long))
		e.refusedAll(b, all, held.Name, held.Owner)
		for j := range all {
			if i != j {
				e.free(c, all[j].Name)
			}
		}
		e.release(a, held)
	}
	grants := e.grantAll(b, all)
	others := e.bundle("d", "c", "b")
	e.refusedAll(a, others, all[2].Name, all[2].Owner)
	e.free(c, others[0].Name)
	for i := range grants {
		e.denied(a, grants[i])
		e.release(b, grants[i])
		e.free(c, all[i].Name)
	}
}

// severalAreGrantedTwice repeats a request, of which some are released meanwhile.
func severalAreGrantedTwice(e *env) {
	a, c, all := e.store(), e.client(nil), e.bundle("a", "b", "c")
	first := e.grantAll(a, all)
	for range 2 {
		for i, g := range e.grantAll(a, all) {
			if g.Token < first[i].Token || last(g) > last(first[i]) {
				e.Errorf("the same grant has %+v and then %+v", first[i], g)
			}
		}
	}
	if err := errors.Join(a.Renew(e.contextFor(soon), first)...); err != nil {
		e.Errorf("renewal: %v", err)
	}
	for i := range first {
		e.release(a, first[i])
		e.free(c, all[i].Name)
	}
}

// severalTokensGoBack takes locks alone and with others in turn.
func severalTokensGoBack(e *env) {
	a, b, newest := e.store(), e.store(), make(map[string]uint64)
	above := func(g driver.Grant) {
		if g.Token <= newest[g.Name] {
			e.Errorf("%q: token %d after %d", g.Name, g.Token, newest[g.Name])
		}
		newest[g.Name] = last(g)
	}
	for range 3 {
		all := e.bundle("a", "b")
		all[0].Tokens = 3
		for _, g := range e.grantAll(a, all) {
			above(g)
			e.release(a, g)
		}
		for i := range all {
			g := e.grant(b, e.request(all[i].Name, e.long))
			above(g)
			e.release(b, g)
		}
	}
}

// severalMixKinds asks for locks of which one is of another kind.
func severalMixKinds(e *env) {
	a, b, c, all := e.client(nil), e.store(), e.client(nil), e.bundle("a", "b")
	lease := e.takeSoon(a.RWMutex(all[1].Name, nil).Reader())
	_, err := b.AcquireAll(e.contextFor(soon), all)
	told, ok := errors.AsType[*driver.KindError](err)
	if !ok || told.Found != driver.ReadWrite || told.Wanted != driver.Mutex {
		e.Errorf("a read-write lock among mutexes: %v", err)
	}
	e.free(c, all[0].Name)
	e.unlock(lease)
}

// unsoundBundleIsGranted asks for what nobody may ask for.
func unsoundBundleIsGranted(e *env) {
	a, c := e.store(), e.client(nil)
	twice := append(e.bundle("a", "b"), e.bundle("a")...)
	mode, fair := e.bundle("a", "b"), e.bundle("a", "b")
	mode[1].Mode, fair[1].Fair = driver.Shared, true
	unsound := map[string][]driver.Request{"none": {}, "a name twice": twice, "a reader": mode, "fair": fair}
	for what, reqs := range unsound {
		if _, err := a.AcquireAll(e.contextFor(soon), reqs); !errors.Is(err, driver.ErrRefused) {
			e.Errorf("%s: %v", what, err)
		}
	}
	e.free(c, twice[0].Name)
}

// lostReplyLeavesSeveral takes locks of which the caller does not hear, and gives up.
func lostReplyLeavesSeveral(e *env) {
	c, f := e.faultyClient(nil)
	other, all := e.client(nil), e.bundle("a", "b")
	f.LoseReply(bedrocktest.AcquireAll)
	if _, err := c.TryAll(e.contextFor(soon), c.Mutex(all[0].Name, nil), c.Mutex(all[1].Name, nil)); err == nil {
		e.Error("the reply was lost, and it has them")
	}
	for i := range all {
		e.unlock(e.lockSoon(other, all[i].Name, nil))
	}
}
