package memlock

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Downgrade implements [driver.Downgrader].
func (b *backend) Downgrade(ctx context.Context, g driver.Grant) error {
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	if err := driver.Refused(driver.CheckDowngrade(&g)); err != nil {
		return err
	}
	return b.store.downgrade(g.Name, g.Owner)
}

// downgrade has a writer read from now on.
func (s *Store) downgrade(name, owner string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.liveCrowd(name)
	if c == nil {
		return driver.ErrLost
	}
	switch m := c.ofOwner(owner); {
	case m == nil || m.mode == driver.Permit:
		return driver.ErrLost
	case m.mode == driver.Write:
		m.mode = driver.Shared
		c.readers.beginTurn(s.clock())
		s.wakeListeners(name)
	}
	return nil
}
