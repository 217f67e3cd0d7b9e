package zklock

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// replaceOther ends that another owner of this client stands for the same lock: one does, for all of it.
func (b *backend) replaceOther(p *place) {
	b.mu.Lock()
	other := b.standing[p.grant.Name]
	if other == nil || other.key == p.key {
		b.mu.Unlock()
		return
	}
	delete(b.standing, p.grant.Name)
	b.mu.Unlock()
	if other.onlyWaits() { // for something else: it keeps its place
		return
	}
	if p, _ := b.takePlace(other.key); p != nil {
		b.leaveNode(other)
	}
}

// standBehind has a place that is not the first go on, and says so by a refusal. Its owner is told when its turn
// comes.
func (a *attempt) standBehind(nodes []string, at int, trip uint64) error {
	p := a.place
	p.mu.Lock()
	attended := p.attended
	p.waits = !a.stands
	p.mu.Unlock()
	who := p.recipe.inTheWay(nodes, a.req.Mode)
	refusal := &driver.HeldError{TTL: driver.UnknownTTL, Waits: isWaiting(p.recipe, nodes, who)}
	if !attended {
		own, err := a.b.watchNode(p, p.node)
		if err != nil {
			return err
		}
		before := p.recipe.ahead(nodes, at)
		ahead, err := a.b.watchNode(p, nodes[before])
		if err != nil {
			return err
		}
		if own == nil || ahead == nil {
			return errMoved
		}
		if before == who {
			refusal.Owner = ahead.owner
		}
		p.mu.Lock()
		p.attended = true
		p.mu.Unlock()
		p.waitFor(nodes, before, trip)
		a.b.spawn(func() { a.b.attendPlace(p, own.events, ahead.events) })
	}
	if refusal.Owner == "" {
		refusal.Owner = a.b.ownerAt(p, nodes[who])
	}
	a.b.mu.Lock()
	if a.stands || a.b.standing[p.grant.Name] == nil {
		a.b.standing[p.grant.Name] = p
	}
	a.b.mu.Unlock()
	if refusal.Again = keptFor; a.stands {
		refusal.Claim, refusal.Token, refusal.Again = a.req.TTL, p.grant.Token, 0
	}
	return refusal
}

// waitFor notes which node a place waits for, and over which connection that was seen. Of mutexes nobody else is in
// the way when the first is gone.
func (p *place) waitFor(nodes []string, before int, trip uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ahead, p.next, p.trip = nodes[before], before == 0 && p.recipe != readWrites, trip
}

// isWaiting reports whether who stands at an index does not have the lock.
func isWaiting(r recipe, nodes []string, at int) bool {
	return at >= 0 && at < len(nodes) && r.ahead(nodes, at) >= 0
}

// watched is a node that is there, and whose change is told.
type watched struct {
	owner  string
	data   []byte
	stat   *zk.Stat
	events <-chan zk.Event
}

// watchNode begins to watch a node beside a place; nil if there is none. Of a node that is missing no watch is left.
func (b *backend) watchNode(p *place, node string) (*watched, error) {
	data, stat, events, err := b.conn.library().GetW(p.folder + "/" + node)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, lacking(mayRead, p.folder+"/"+node, err)
	}
	return &watched{owner: ownerOf(node, data), data: data, stat: stat, events: events}, nil
}

// ownerAt returns who has a node, as far as that can be read.
func (b *backend) ownerAt(p *place, node string) string {
	data, _, err := b.conn.library().Get(p.folder + "/" + node)
	if err != nil {
		return ""
	}
	return ownerOf(node, data)
}

// refusalBy says who is in the way. Where somebody here listens, the node that was met is what they listen to from now
// on: they sleep since they were refused because of it.
func (b *backend) refusalBy(p *place, nodes []string) error {
	at := p.recipe.inTheWay(nodes, p.grant.Mode)
	if at < 0 { // the place's own writer may be gone by now
		return errMoved
	}
	refusal := &driver.HeldError{TTL: driver.UnknownTTL, Waits: isWaiting(p.recipe, nodes, at)}
	if b.hub.needs(p.grant.Name, nodes[at]) {
		seen, err := b.hub.arm(p.grant.Name, p.folder, nodes[at])
		if err != nil {
			return err
		}
		if seen != nil {
			refusal.Owner = seen.owner
		}
		return refusal
	}
	refusal.Owner = b.ownerAt(p, nodes[at])
	return refusal
}
