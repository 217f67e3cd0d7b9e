package memlock

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Together implements [driver.Bundler]: the store is one piece of memory.
func (b *backend) Together(names []string) bool { return len(names) <= driver.MaxBundle }

// AcquireAll implements [driver.Bundler].
func (b *backend) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	if err := ctx.Err(); err != nil {
		return nil, unavailable(err)
	}
	if err := driver.Refused(driver.CheckBundle(reqs)); err != nil {
		return nil, err
	}
	return b.store.acquireAll(b, reqs)
}

// acquireAll grants all that is asked for if every lock is free, or the owner's.
func (s *Store) acquireAll(by *backend, reqs []driver.Request) ([]driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range reqs {
		if err := s.otherKind(reqs[i].Name, driver.Mutex); err != nil {
			return nil, fmt.Errorf("%q: %w", reqs[i].Name, err)
		}
	}
	for i := range reqs {
		if refusal := s.refusalOf(&reqs[i]); refusal != nil {
			refusal.Name = reqs[i].Name
			return nil, refusal
		}
	}
	grants := make([]driver.Grant, len(reqs))
	for i := range reqs {
		grants[i], _ = s.takeFree(by, reqs[i])
	}
	return grants, nil
}

// Annotate implements [driver.Annotator].
func (b *backend) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	if err := driver.Refused(driver.CheckMeta(meta)); err != nil {
		return err
	}
	return b.store.annotate(&g, meta)
}

func (s *Store) annotate(d *driver.Grant, meta string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Mode == driver.Exclusive {
		g, held := s.live(d.Name)
		if !held || g.owner != d.Owner {
			return driver.ErrLost
		}
		g.meta = meta
		s.grants[d.Name] = g
		return nil
	}
	if c := s.liveCrowd(d.Name); c != nil {
		if m := c.ofOwner(d.Owner); m != nil {
			m.meta = meta
			return nil
		}
	}
	return driver.ErrLost
}
