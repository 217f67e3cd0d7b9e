package zklock

import (
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// soonAttended is when the node of a grant is first watched. Most are gone by then, and cost nothing; what has
// happened to the others is found then.
const soonAttended = 20 * time.Millisecond

// lookAgain has who attends a place look again where it stands.
func (p *place) lookAgain() {
	select {
	case p.look <- struct{}{}:
	default:
	}
}

// isOver reports whether nobody is told of the place any more.
func (p *place) isOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// onlyWaits reports whether the place is granted to who asks again, and not unasked.
func (p *place) onlyWaits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits
}

// spawn runs something until the backend is closed.
func (b *backend) spawn(run func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.background.Err() == nil {
		b.work.Go(run)
	}
}

// attendPlace follows the fate of a place: its own node, and the one before it. What is told of both comes in order,
// so a place that is gone is not granted after that.
func (b *backend) attendPlace(p *place, own, ahead <-chan zk.Event) {
	for !p.isOver() {
		select {
		case <-own:
			own = b.readOwn(p)
		case e := <-ahead:
			select {
			case <-own: // it has come before
				own = b.readOwn(p)
			default:
			}
			ahead = b.moveUp(p, e)
		case <-p.look:
			if own == nil {
				own = b.readOwn(p)
			}
			ahead = b.findAhead(p)
		case <-b.background.Done():
			return
		}
	}
}

// attendGrant begins to follow the fate of a grant.
func (b *backend) attendGrant(p *place) {
	p.mu.Lock()
	late := p.over || p.attended
	p.attended = true
	p.mu.Unlock()
	if late {
		return
	}
	b.spawn(func() { b.attendPlace(p, b.readOwn(p), nil) })
}

// readOwn reads what has become of the place's own node, and watches it.
func (b *backend) readOwn(p *place) <-chan zk.Event {
	if p.isOver() {
		return nil
	}
	own, err := b.watchNode(p, p.node)
	if err != nil {
		return nil // there is no connection: when there is one again, it is looked at anew
	}
	if own == nil {
		b.losePlace(p)
		return nil
	}
	b.hearPlea(p, own)
	return own.events
}

// moveUp is told that the node before a place has changed. If that was the first of all and is gone, the place is the
// first now for certain: those who come stand behind it. It is looked at anew if there was another connection in
// between, for then nothing is told in order.
func (b *backend) moveUp(p *place, e zk.Event) <-chan zk.Event {
	p.mu.Lock()
	certain := p.next && p.trip == b.conn.generation.Load() && e.Type == zk.EventNodeDeleted
	p.mu.Unlock()
	if certain {
		b.passOn(p)
		return nil
	}
	return b.findAhead(p)
}

// findAhead looks where a place stands that was not granted, and watches the node before it.
func (b *backend) findAhead(p *place) <-chan zk.Event {
	for {
		p.mu.Lock()
		done := p.over || p.granted
		p.mu.Unlock()
		if done {
			return nil
		}
		trip := b.conn.generation.Load()
		nodes, _, err := b.children(p.folder, p.recipe)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil // see readOwn
		}
		at := slices.Index(nodes, p.node)
		if at < 0 {
			b.losePlace(p)
			return nil
		}
		before := p.recipe.ahead(nodes, at)
		if before < 0 {
			b.passOn(p)
			return nil
		}
		ahead, err := b.watchNode(p, nodes[before])
		if err != nil {
			return nil
		}
		if ahead == nil {
			continue
		}
		p.waitFor(nodes, before, trip)
		return ahead.events
	}
}

// passOn tells who stands that it has the lock. Who only waits is told to ask.
func (b *backend) passOn(p *place) {
	p.mu.Lock()
	waits, done := p.waits, p.over || p.granted
	p.granted = p.granted || !waits
	p.mu.Unlock()
	if waits {
		b.hub.wakeName(p.grant.Name)
		return
	}
	if done {
		return
	}
	b.leaveLine(p)
	b.inherit(p.grant)
}

// hearPlea tells who has a lock that it is asked for, if that stands in its node.
func (b *backend) hearPlea(p *place, own *watched) {
	r, ours := parseRecord(own.data)
	asked, number := driver.Plea{}, own.stat.Version
	switch {
	case ours && r.Plea != nil:
		p.remember(own.data)
		asked = driver.Plea{Reason: r.Plea.Reason, Within: time.Duration(r.Plea.Within) * time.Millisecond}
		number = r.Plea.Number
	case !ours && string(own.data) == revoke:
		b.restoreRecord(p, number)
	default:
		p.remember(own.data)
		return
	}
	p.mu.Lock()
	told := p.plea == number
	p.plea = number
	p.mu.Unlock()
	if !told && b.note != nil && asked.Check() == nil {
		b.note(driver.Message{Name: p.grant.Name, Owner: p.grant.Owner, Kind: driver.Asked, Plea: asked})
	}
}

// restoreRecord writes again what stood in a node, for people to read, where others have written over it.
func (b *backend) restoreRecord(p *place, version int32) {
	p.mu.Lock()
	written := p.written
	p.mu.Unlock()
	if written != nil {
		_, _ = b.conn.library().Set(p.path(), written, version) // if somebody else was quicker, that is told, too
	}
}

// remember keeps what stands in the place's own node.
func (p *place) remember(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written = data
}
