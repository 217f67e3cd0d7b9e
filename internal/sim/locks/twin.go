package locks

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// In some runs package memlock is the server, and the model goes along with it: they
// must agree, and it is memlock that answers and wakes.

func (b *backend) acquire(req *driver.Request) (driver.Grant, error) {
	grant, err := b.store.acquire(b, req)
	if b.twin == nil {
		return grant, err
	}
	twin, twinErr := b.twin.Acquire(context.Background(), *req)
	if errors.Is(err, driver.ErrHeld) != errors.Is(twinErr, driver.ErrHeld) {
		b.store.report.Break(ruleTwin, "acquire %s for %s: %v, and %v by the model",
			req.Name, short(req.Owner), twinErr, err)
	}
	return twin, twinErr
}

// stand is told to both.
func (b *backend) stand(req *driver.Request) (driver.Grant, error) {
	grant, err := b.store.stand(b, req)
	if b.twin == nil {
		return grant, err
	}
	twin, twinErr := b.twin.(driver.Successor).Stand(context.Background(), *req)
	if errors.Is(err, driver.ErrHeld) != errors.Is(twinErr, driver.ErrHeld) {
		b.store.report.Break(ruleTwin, "stand for %s for %s: %v, and %v by the model",
			req.Name, short(req.Owner), twinErr, err)
	}
	return twin, twinErr
}

func (b *backend) renew(g *driver.Grant) error {
	err := b.store.renew(g)
	if b.twin == nil {
		return err
	}
	twin := b.twin.Renew(context.Background(), []driver.Grant{*g})[0]
	if !errors.Is(twin, err) {
		b.store.report.Break(ruleTwin, "renew %s of %s: %v, and %v by the model", g.Name, short(g.Owner), twin, err)
	}
	return twin
}

// release is told to both. Whether a repeated one is recognised may differ.
func (b *backend) release(g *driver.Grant) (int, error) {
	held := b.store.holds(g)
	others, err := b.store.release(b.link.ID, g)
	if b.twin == nil {
		return others, err
	}
	twin, twinErr := b.twin.Release(context.Background(), *g)
	if held && twinErr != nil {
		b.store.report.Break(ruleTwin, "release %s of %s: %v, and the model has it", g.Name, short(g.Owner), twinErr)
	}
	b.compareHolders(g.Name)
	return twin, twinErr
}

func (b *backend) force(name string) bool {
	held := b.store.force(name)
	if b.twin == nil {
		return held
	}
	twin, err := b.twin.(driver.Forcer).ForceRelease(context.Background(), name)
	if err != nil || twin != held {
		b.store.report.Break(ruleTwin, "force %s: %t, %v, and %t by the model", name, twin, err, held)
	}
	return twin
}

// compareHolders judges whether a lock was passed on to the same one.
func (b *backend) compareHolders(name string) {
	info, err := b.twin.(driver.Inspector).Inspect(context.Background(), name)
	var twin string
	if err == nil && len(info.Holders) > 0 {
		twin = info.Holders[0].Owner
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	var model string
	if l := b.store.live(name); l != nil {
		model = l.owner
	}
	if twin != model {
		b.store.report.Break(ruleTwin, "%s is held by %q, and by %q by the model", name, short(twin), short(model))
	}
}

// holds reports whether a grant stands.
func (s *store) holds(g *driver.Grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live(g.Name)
	return l != nil && l.owner == g.Owner
}

// watchTwin has memlock wake the watch, instead of the model.
func (b *backend) watchTwin(w *watch) {
	if b.twin == nil {
		return
	}
	twin, err := b.twin.(driver.Waiter).Watch(context.Background(), w.name, driver.Mutex)
	if err != nil {
		panic(err)
	}
	w.twin, w.over = twin, make(chan struct{})
	go func() {
		for {
			select {
			case <-twin.C():
				w.push()
			case <-w.over:
				return
			}
		}
	}()
}

// newTwin is a client's way to memlock.
func newTwin(s *memlock.Store) driver.Backend {
	if s == nil {
		return nil
	}
	return memlock.NewBackend(s)
}
