package zklock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// place is a node of this client in the line of a lock, or what may have become one: the answer was lost. It is in
// the book for as long as it is not asked to go on; then its node is deleted.
type place struct {
	key     string
	recipe  recipe
	folder  string
	prefix  string   // of the node's name
	node    string   // "" if it is not known
	more    []string // the other nodes of a grant of several permits
	session int64
	grant   driver.Grant
	look    chan struct{} // holds one signal: there is another connection
	until   time.Duration // when it ends by the boot clock; the backend's mu is held
	ending  bool          // its time is over, and its node may be there still; the backend's mu is held
	asked   bool          // a request of its owner is under way: it does not end by itself; the backend's mu is held
	renewed bool          // since it was asked about; the backend's mu is held

	endings sync.Mutex // is held while its node is being removed since its time is over

	moving sync.RWMutex // is held while its node becomes another one
	moved  *place       // what it has become

	mu       sync.Mutex
	granted  bool
	over     bool
	attended bool
	waits    bool   // it is granted to who asks again, and not unasked
	ahead    string // the node that is waited for, which is watched
	next     bool   // when that is gone, nobody else is in the way
	trip     uint64 // the connection over which that was seen
	plea     int32  // the last one told, by its number; -1 for none
	written  []byte // what stands in its own node
	lent     int    // tokens of its own that readers over it have got
	timer    *time.Timer
}

// newPlace returns what may become a node of a grant.
func (b *backend) newPlace(g driver.Grant, folder string) *place {
	return &place{
		key: keyOf(g.Name, g.Owner), recipe: b.layout.recipeFor(g.Mode.Kind()), folder: folder,
		prefix: prefixOf(g.Owner), plea: -1, look: make(chan struct{}, 1), grant: g,
	}
}

func keyOf(name, owner string) string { return name + "\x00" + owner }

func (p *place) path() string { return p.folder + "/" + p.node }

// finishPlace ends what goes on around a place, and reports whether it was granted. It is not told of anything any
// more. Who attends it hears of nothing while there is no connection, and of no new one when it is out of the book.
func (p *place) finishPlace() (granted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.lookAgain()
	if p.timer != nil {
		p.timer.Stop()
	}
	return p.granted
}

// enterPlace has a place go on until a time of the boot clock.
func (b *backend) enterPlace(p *place, until time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.background.Err() != nil {
		return
	}
	b.places[p.key], p.until, p.asked = p, until, false
	b.book.Put(p.key, p, until)
}

// askAbout returns the place for which a request of its owner is made, so that it does not end by itself. It returns
// nil if there is none, or if that is being ended. One whose node is known stays where it is, for that may be lost or
// renewed meanwhile.
func (b *backend) askAbout(key string) (p *place, stays, ending bool) {
	for {
		b.mu.Lock()
		p = b.places[key]
		_, inBook := b.book.Get(key)
		stays = inBook && p != nil && p.node != "" && p.session != 0
		if stays {
			p.asked, p.renewed = true, false
		}
		b.mu.Unlock()
		if !stays {
			p, ending = b.takePlace(key)
			return p, false, ending
		}
		p.moving.RLock()
		moved := p.moved
		p.moving.RUnlock()
		if moved == nil {
			return p, true, false
		}
	}
}

// enterAsked has a place go on until a time at least, after a request. It reports false if it was lost, given back or
// has become another one meanwhile.
func (b *backend) enterAsked(p *place, until time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.places[p.key] != p || !p.asked {
		return false
	}
	if p.renewed {
		until = max(until, p.until)
	}
	p.until, p.asked = until, false
	b.book.Put(p.key, p, until)
	return true
}

// takePlace takes a place out of the book, so that it does not end by itself. It returns nil if there is none, or if
// that is being ended.
func (b *backend) takePlace(key string) (p *place, ending bool) {
	b.mu.Lock()
	p, ok := b.book.Take(key)
	if other := b.places[key]; !ok && other != nil && other.asked {
		p, ok = other, true
	}
	if ok {
		p.asked = false
		delete(b.places, key)
	}
	ending = b.places[key] != nil
	b.mu.Unlock()
	if !ok {
		return nil, ending
	}
	p.moving.RLock()
	defer p.moving.RUnlock()
	if p.moved != nil {
		return p.moved, false
	}
	return p, false
}

// leaveLine ends that a place stands, and reports whether it did.
func (b *backend) leaveLine(p *place) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.standing[p.grant.Name] != p {
		return false
	}
	delete(b.standing, p.grant.Name)
	return true
}

// endPlace deletes the node of a place whose time is over. Its node may be becoming another one, which takes as long as
// the servers do, and not for longer than ctx.
func (b *backend) endPlace(ctx context.Context, p *place) error {
	_, err := inSession(ctx, b, func() (bool, error) { return b.endNow(p) })
	return err
}

// endNow deletes the node of a place whose time is over, unless it has become another one. It may be called once more
// while an earlier call goes on that was left behind. Until the node is gone its owner has nothing else: the node of
// another grant would be taken for it.
func (b *backend) endNow(p *place) (removed bool, err error) {
	p.endings.Lock()
	defer p.endings.Unlock()
	p.moving.RLock()
	defer p.moving.RUnlock()
	if p.moved != nil || !b.beginEnding(p) { // what it has become ends by itself
		return false, nil
	}
	p.finishPlace()
	if b.leaveLine(p) {
		b.hub.wakeName(p.grant.Name) // who waits by it looks anew
	}
	if removed, err = b.removeNodes(p); err == nil {
		b.forgetPlace(p)
	}
	return removed, err
}

// beginEnding enters that the time of a place is over. It reports false if it has ended already, or has been prolonged,
// and while a request of its owner is under way, which enters it anew.
func (b *backend) beginEnding(p *place) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, prolonged := b.book.Get(p.key)
	if b.places[p.key] != p || p.asked || prolonged {
		return false
	}
	p.ending = true
	return true
}

// forgetPlace enters that the servers have nothing of a place any more.
func (b *backend) forgetPlace(p *place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.places[p.key] == p {
		delete(b.places, p.key)
	}
}

// removeNodes deletes the node of a place, or all of its owner if it is not known which one that is. It reports
// whether there was one.
func (b *backend) removeNodes(p *place) (bool, error) {
	if p.session != b.conn.session.Load() && p.session != 0 {
		return false, nil // it is gone with its session
	}
	if p.node != "" {
		return b.removeAll(p.folder, append([]string{p.node}, p.more...))
	}
	if err := b.catchUp(p.folder); err != nil { // one may be on its way here since the session has moved
		return false, err
	}
	nodes, _, err := b.children(p.folder, p.recipe)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return b.removeAll(p.folder, ofPrefix(nodes, p.prefix))
}

// removeAll deletes nodes, and reports whether one was there.
func (b *backend) removeAll(folder string, nodes []string) (removed bool, err error) {
	for len(nodes) > 0 {
		n := fitting(folder, nodes)
		was, err := b.removeTogether(folder, nodes[:n])
		removed = removed || was
		if err != nil {
			return removed, err
		}
		nodes = nodes[n:]
	}
	return removed, nil
}

// fitting is how many of the nodes one request can delete. Those of one grant all fit: so did the one that made them.
func fitting(folder string, nodes []string) (n int) {
	for size := 0; n < len(nodes); n++ {
		if size += len(folder) + len(nodes[n]) + stepBytes; size > mostBytes {
			break
		}
	}
	return n
}

// removeTogether deletes nodes in one step, unless one is missing, and reports whether one was there.
func (b *backend) removeTogether(folder string, nodes []string) (removed bool, err error) {
	if len(nodes) > 1 {
		steps := make([]any, 0, len(nodes))
		for _, n := range nodes {
			steps = append(steps, &zk.DeleteRequest{Path: folder + "/" + n, Version: -1})
		}
		if _, err := b.conn.library().Multi(steps...); !errors.Is(err, zk.ErrNoNode) {
			return err == nil, lacking(mayDelete, folder, err)
		}
	}
	for _, n := range nodes {
		was, err := b.removeNode(folder + "/" + n)
		if err != nil {
			return removed, err
		}
		removed = removed || was
	}
	return removed, nil
}

// removeNode deletes a node, and reports whether it was there.
func (b *backend) removeNode(path string) (bool, error) {
	err := b.conn.library().Delete(path, -1)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil, lacking(mayDelete, above(path), err)
}

// losePlace ends a place whose node is gone, and tells who has it.
func (b *backend) losePlace(p *place) {
	known := b.dropPlace(p)
	if known && len(p.more) > 0 {
		b.leaveNode(p) // the others may be there still
	}
}

// dropPlace ends a place of which nothing is left, and tells who has it. It reports false if nobody knows of it any
// more.
func (b *backend) dropPlace(p *place) (known bool) {
	b.mu.Lock()
	if known = b.places[p.key] == p && !p.ending; known {
		delete(b.places, p.key)
		b.book.Take(p.key)
		p.asked = false
	}
	b.mu.Unlock()
	granted := p.finishPlace()
	if b.leaveLine(p) {
		b.hub.wakeName(p.grant.Name)
	}
	if known && granted && b.note != nil {
		b.note(driver.Message{Name: p.grant.Name, Owner: p.grant.Owner, Kind: driver.Taken})
	}
	return known
}

// leaveNode has the node of an owner whose fate is open deleted in the background, until the servers say that it is
// gone.
func (b *backend) leaveNode(p *place) {
	p.finishPlace()
	b.leaveLine(p)
	b.enterPlace(p, bootclock.Now())
}

// recent remembers the last releases, so that a repeated one is recognised.
type recent struct {
	keys map[string]struct{}
	line [1024]string
	next int
}

func (r *recent) add(key string) {
	if r.keys == nil {
		r.keys = make(map[string]struct{}, len(r.line))
	}
	delete(r.keys, r.line[r.next])
	r.line[r.next], r.keys[key] = key, struct{}{}
	r.next = (r.next + 1) % len(r.line)
}

func (r *recent) contains(key string) bool {
	_, ok := r.keys[key]
	return ok
}
