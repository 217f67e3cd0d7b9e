package zklock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// sideBySide is how many grants, or nodes, are asked for at once.
const sideBySide = 64

// Renew implements [driver.Backend]. A node needs no renewal: it is asked for, of a server that has just heard from
// the leader, for one that is cut off would tell the old state for a while.
func (b *backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	sent := bootclock.Now()
	found, err := inSession(ctx, b, func() ([]error, error) { return b.lookFor(grants) })
	for i := range grants {
		switch err := driver.CheckOwner(grants[i].Owner); {
		case err != nil:
			errs[i] = driver.Refused(err)
		case found != nil:
			errs[i] = b.prolong(&grants[i], sent, found[i])
		}
		if found == nil && errs[i] == nil {
			errs[i] = describe("renew", grants[i].Name, err)
		}
	}
	return errs
}

// lookFor asks for the nodes of grants.
func (b *backend) lookFor(grants []driver.Grant) ([]error, error) {
	if _, err := b.conn.library().Sync("/"); err != nil {
		return nil, err
	}
	errs := make([]error, len(grants))
	var group sync.WaitGroup
	for first := range min(len(grants), sideBySide) {
		group.Go(func() {
			for i := first; i < len(grants); i += sideBySide {
				errs[i] = b.lookForNode(&grants[i])
			}
		})
	}
	group.Wait()
	return errs, nil
}

// lookForNode asks for the node of a grant, which has to be of this session.
func (b *backend) lookForNode(g *driver.Grant) error {
	for {
		p := b.placeOf(g)
		if p == nil {
			return driver.ErrLost
		}
		if err := b.lookForPlace(p); !errors.Is(err, errMoved) {
			return err
		}
	}
}

// lookForPlace asks for the nodes of a place, unless that has become another one.
func (b *backend) lookForPlace(p *place) error {
	if p.node == "" && p.session != 0 {
		return b.findMoved(p)
	}
	p.moving.RLock()
	defer p.moving.RUnlock()
	if p.moved != nil {
		return errMoved
	}
	if p.node == "" {
		return driver.ErrLost
	}
	there, stat, err := b.conn.library().Exists(p.path())
	if err == nil && there && len(p.more) > 0 {
		there, err = b.hasAll(p)
	}
	if err != nil {
		return err
	}
	if !there || stat.EphemeralOwner != b.conn.session.Load() || stat.EphemeralOwner != p.session {
		b.losePlace(p)
		return driver.ErrLost
	}
	return nil
}

// placeOf returns the place of a grant, if it goes on.
func (b *backend) placeOf(g *driver.Grant) *place {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.places[keyOf(g.Name, g.Owner)]; p != nil && !p.ending {
		return p
	}
	return nil
}

// prolong has a grant live for its TTL again, if its node was found.
func (b *backend) prolong(g *driver.Grant, sent time.Duration, err error) error {
	if err != nil {
		return describe("renew", g.Name, err)
	}
	if most := longestLease(b.conn.lasts()); g.TTL > most {
		return describe("renew", g.Name, b.checkTTL(g.TTL))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := keyOf(g.Name, g.Owner)
	p := b.places[key]
	if p != nil && p.asked { // its time may be over by the book
		b.book.Put(key, p, sent+g.TTL)
		p.renewed = true
	} else if !b.book.Prolong(key, sent+g.TTL) {
		return describe("renew", g.Name, driver.ErrLost)
	}
	if p != nil {
		p.until = sent + g.TTL
	}
	return nil
}
