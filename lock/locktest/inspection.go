package locktest

import (
	"errors"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// inspection: people see what is held, and can take it away.
func inspection() []behaviour {
	inspecting, forcing := []Capability{Inspecting}, []Capability{Forcing}
	return []behaviour{
		{name: "MetadataIsLost", run: metadataIsLost, needs: inspecting},
		{name: "FreeLockLooksHeld", run: freeLockLooksHeld, needs: inspecting},
		{name: "ListShowsTheWrongLocks", run: listShowsTheWrongLocks, needs: inspecting},
		{name: "ListHidesStrangeOwners", run: listHidesStrangeOwners, needs: inspecting},
		{name: "ForcedReleaseKeepsTheToken", run: forcedReleaseKeepsTheToken, needs: forcing},
		{name: "ForcedReleaseFreesNothing", run: forcedReleaseFreesNothing, needs: forcing},
	}
}

func metadataIsLost(e *env) {
	a, b := e.client(&lock.Options{TTL: e.long, Meta: map[string]string{"service": "shop"}}), e.client(nil)
	name, job := e.name("a"), "\"quoted\", ünïcode & <tags>"
	lease := e.lockSoon(a, name, &lock.MutexOptions{Meta: map[string]string{"job": job}})
	info, err := b.Inspect(e.contextFor(soon), name)
	if err != nil {
		e.Fatalf("inspect: %v", err)
	}
	if info.Name != name || info.Token < lease.Token() || !info.Held() {
		e.Errorf("held by %s with token %d, shown as %+v", lease.Owner(), lease.Token(), info)
	}
	holder := e.onlyHolder(info)
	if holder.Owner != e.told(lease.Owner()) || holder.Mode != driver.Exclusive || holder.Permits != 0 {
		e.Errorf("held by %s, shown as %+v", lease.Owner(), holder)
	}
	if holder.Meta["service"] != "shop" || holder.Meta["job"] != job || holder.Meta["pid"] == "" {
		e.Errorf("metadata %v", holder.Meta)
	}
	if holder.Token != 0 && holder.Token != lease.Token() {
		e.Errorf("the token is %d, shown as %d", lease.Token(), holder.Token)
	}
	if holder.TTL <= 0 || holder.TTL > e.long {
		e.Errorf("time left %s of %s", holder.TTL, e.long)
	}
	e.unlock(lease)
}

// onlyHolder returns who has a lock that one has alone.
func (e *env) onlyHolder(info lock.Info) lock.Holder {
	e.Helper()
	if len(info.Holders) != 1 {
		e.Fatalf("held by one, shown as %+v", info)
	}
	return info.Holders[0]
}

func freeLockLooksHeld(e *env) {
	a, b, name := e.client(nil), e.store(), e.name("a")
	listen := func() {
		watch, err := b.Watch(e.contextFor(soon), name, driver.Mutex)
		if errors.Is(err, driver.ErrUnsupported) {
			return
		}
		if err != nil {
			e.Fatalf("watch: %v", err)
		}
		e.Cleanup(watch.Close)
	}
	for _, use := range []func(){
		func() {},
		listen,
		func() { e.unlock(e.lockSoon(a, name, nil)) },
		func() { e.grant(b, e.request(name, e.ttl)); time.Sleep(e.ttl + promptly) },
	} {
		use()
		info, err := a.Inspect(e.contextFor(soon), name)
		if err != nil {
			e.Fatalf("inspect: %v", err)
		}
		if info.Held() || info.Waiting > 0 {
			e.Errorf("a free lock is shown as %+v", info)
		}
	}
}

// listShowsTheWrongLocks lists prefixes that a store with patterns could
// misread.
func listShowsTheWrongLocks(e *env) {
	a := e.client(nil)
	held := []string{"*/1", "*/2", "a/1", "[ab]/1", "?/1", `\/1`, "{t}/1"}
	for _, short := range held {
		lease := e.lockSoon(a, e.name(short), nil)
		defer e.unlock(lease)
	}
	for prefix, want := range map[string]int{
		"*/": 2, "a": 1, "[ab]": 1, "?": 1, `\`: 1, "{t}": 1, "": len(held), "none": 0,
	} {
		infos, err := a.List(e.contextFor(soon), e.prefix+prefix, 100)
		if err != nil {
			e.Fatalf("list: %v", err)
		}
		if len(infos) != want {
			e.Errorf("list %q: %d locks, want %d", prefix, len(infos), want)
		}
	}
	infos, err := a.List(e.contextFor(soon), e.prefix, 3)
	if err != nil || len(infos) != 3 {
		e.Errorf("list with limit 3: %d locks, error %v", len(infos), err)
	}
	if slices.ContainsFunc(infos, func(i lock.Info) bool { return !i.Held() || i.Holders[0].Owner == "" }) {
		e.Errorf("a listed lock has no owner: %+v", infos)
	}
}

// listHidesStrangeOwners takes locks as somebody who does not come by package lock:
// an owner may be called anything, and store nothing beside.
func listHidesStrangeOwners(e *env) {
	a, b, name := e.client(nil), e.store(), e.name("a")
	for _, owner := range []string{"7", "me", "nightly job:1", newOwner()} {
		req := e.request(name, e.long)
		req.Owner = owner
		g := e.grant(b, req)
		infos, err := a.List(e.contextFor(soon), e.prefix, 10)
		if err != nil || len(infos) != 1 || e.onlyHolder(infos[0]).Owner != e.told(owner) || infos[0].Name != name {
			e.Errorf("held by %q, listed as %+v, error %v", owner, infos, err)
		}
		e.release(b, g)
	}
}

func forcedReleaseKeepsTheToken(e *env) {
	a, b, name := e.client(&lock.Options{TTL: e.ttl}), e.client(nil), e.name("a")
	e.unlock(e.lockSoon(b, name, nil)) // it is connected: that must not take longer than the victim's lease
	victim := e.lockSoon(a, name, nil)
	if held, err := b.ForceRelease(e.contextFor(soon), name); err != nil || !held {
		e.Fatalf("force release: held %v, error %v", held, err)
	}
	e.raised(b, name, victim.Token())
	next := e.lockSoon(b, name, nil)
	if next.Token() <= victim.Token()+1 {
		e.Errorf("the victim's token is %d, the next holder's %d: none was skipped", victim.Token(), next.Token())
	}
	e.ends(victim, e.ttl+promptly)
	e.lost(victim.Unlock(e.contextFor(soon)))
	e.refused(a, name)
	e.unlock(next)
}

// raised checks that the token shown for a name is higher than the victim's.
func (e *env) raised(c *lock.Client, name string, victim uint64) {
	e.Helper()
	info, err := c.Inspect(e.contextFor(soon), name)
	if errors.Is(err, lock.ErrUnsupported) {
		return
	}
	if err != nil || info.Token <= victim {
		e.Errorf("after a forced release the token is %d, the victim's %d, error %v", info.Token, victim, err)
	}
}

func forcedReleaseFreesNothing(e *env) {
	a, b, name := e.client(&lock.Options{TTL: time.Hour}), e.client(nil), e.name("a")
	if held, err := b.ForceRelease(e.contextFor(soon), name); err != nil || held {
		e.Errorf("force release of a free lock: held %v, error %v", held, err)
	}
	victim := e.lockSoon(a, name, nil)
	next := e.startWaiting(e.contextFor(cleanUp), b.Mutex(name, nil))
	if held, err := b.ForceRelease(e.contextFor(soon), name); err != nil || !held {
		e.Errorf("force release: held %v, error %v", held, err)
	}
	e.unlock(e.served(next, soon))
	e.lost(victim.Unlock(e.contextFor(soon)))
}
