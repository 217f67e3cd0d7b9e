package zklock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// readOver grants a writer of this client the lock to read. Its node has the writer's number, as Curator has it, so
// nobody is in its way; and its token is one of those that were kept for that, above the writer's and below those of
// all who have come after it.
func (a *attempt) readOver() (driver.Grant, error) {
	p := a.place
	nodes, _, err := a.list()
	if err != nil {
		return driver.Grant{}, err
	}
	if own := nodeOf(nodes, p.prefix); own != "" {
		if !a.ours {
			if _, err := a.b.removeNode(p.folder + "/" + own); err != nil {
				return driver.Grant{}, driver.Spent(err)
			}
			return driver.Grant{}, errMoved
		}
		return a.grantOver(own)
	}
	if a.mayBeBehind() {
		return driver.Grant{}, cmp.Or(a.syncNow(), errMoved)
	}
	if a.left { // it had the lock
		return driver.Grant{}, a.nodeGone()
	}
	writer := a.b.placeOf(&driver.Grant{Name: a.req.Name, Owner: a.req.Over})
	if writer == nil || writer.grant.Mode != driver.Write || !slices.Contains(nodes, writer.node) ||
		p.recipe.ahead(nodes, slices.Index(nodes, writer.node)) >= 0 {
		a.ours = false
		return driver.Grant{}, driver.ErrBelow
	}
	if err := p.borrowTokens(writer); err != nil {
		return driver.Grant{}, err
	}
	node := p.prefix + readWord + p.recipe.sortKey(writer.node)
	before, data := a.ours, a.nodeData()
	a.ours = true
	_, err = a.b.conn.library().Multi(
		&zk.CheckVersionRequest{Path: writer.path(), Version: -1}, a.b.readerAt(p.folder+"/"+node, data),
	)
	if err == nil {
		p.written = data
		return a.grantOver(node)
	}
	a.ours = before || classOf(err) == nil && !errors.Is(err, zk.ErrNoNode)
	if errors.Is(err, zk.ErrNoNode) { // the writer has gone
		err = errMoved
	}
	return driver.Grant{}, err
}

// grantOver has the node of who reads over a writer be a grant.
func (a *attempt) grantOver(node string) (driver.Grant, error) {
	p := a.place
	if p.node != node { // else it may be a grant already, which others read
		p.node = node
	}
	session := a.b.conn.session.Load()
	there, stat, err := a.b.conn.library().Exists(p.path())
	if err != nil {
		return driver.Grant{}, err
	}
	if session == 0 || !there || stat.EphemeralOwner != session {
		return driver.Grant{}, a.nodeGone()
	}
	if p.session != session {
		p.session = session
	}
	return a.becomeGrant(), nil
}

// borrowTokens gives a place tokens of a writer's node that the writer was not granted.
func (p *place) borrowTokens(writer *place) error {
	if p.grant.Token != 0 {
		return nil
	}
	writer.mu.Lock()
	defer writer.mu.Unlock()
	used := writer.grant.Tokens + writer.lent
	if used >= maxBlock {
		return fmt.Errorf("%w: a writer was read over %d times", driver.ErrRefused, writer.lent)
	}
	p.grant.Tokens = 1
	p.grant.Token = writer.grant.Token + uint64(used)
	writer.lent++
	return nil
}

// Downgrade implements [driver.Downgrader]: the writer's node becomes a reader's of the same number, in one step.
func (b *backend) Downgrade(ctx context.Context, g driver.Grant) error {
	if err := driver.CheckDowngrade(&g); err != nil {
		return driver.Refused(err)
	}
	_, err := inSession(ctx, b, func() (struct{}, error) { return struct{}{}, b.downgradeNow(&g) })
	return describe("downgrade", g.Name, err)
}

func (b *backend) downgradeNow(g *driver.Grant) error {
	for {
		p := b.placeOf(g)
		if p == nil || p.recipe != readWrites || !p.isGranted() {
			return driver.ErrLost
		}
		if err := b.becomeReader(p); !errors.Is(err, errMoved) {
			return err
		}
	}
}

// becomeReader has the node of a place become a reader's, unless the place has become another one.
func (b *backend) becomeReader(p *place) error {
	if p.node == "" {
		return b.findMoved(p)
	}
	p.moving.Lock()
	defer p.moving.Unlock()
	if p.moved != nil {
		return errMoved
	}
	if modeWord(p.node) == readWord {
		return b.checkThere(p)
	}
	data, stat, err := b.conn.library().Get(p.path())
	if errors.Is(err, zk.ErrNoNode) {
		b.losePlace(p)
		return driver.ErrLost
	}
	if err != nil {
		return err
	}
	p.remember(data)
	p.finishPlace() // who attends it would take it for lost
	node := p.prefix + readWord + p.recipe.sortKey(p.node)
	_, err = b.conn.library().Multi(
		&zk.DeleteRequest{Path: p.path(), Version: stat.Version}, b.readerAt(p.folder+"/"+node, data),
	)
	switch {
	case err == nil:
		b.move(p, node)
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		b.move(p, p.node)
		return errMoved
	case classOf(err) != nil:
		b.move(p, p.node)
	default:
		b.move(p, "")
	}
	return err
}

// readerAt makes the node of who reads in the place of a writer.
func (b *backend) readerAt(path string, data []byte) *zk.CreateRequest {
	return &zk.CreateRequest{Path: path, Data: data, Acl: b.conn.acl, Flags: zk.FlagEphemeral}
}

// checkThere says of a node that is gone that it is lost.
func (b *backend) checkThere(p *place) error {
	there, _, err := b.conn.library().Exists(p.path())
	if err == nil && !there {
		b.losePlace(p)
		return driver.ErrLost
	}
	return err
}

// findMoved finds the node of a place that was about to become another one when the answer was lost.
func (b *backend) findMoved(p *place) error {
	p.moving.Lock()
	defer p.moving.Unlock()
	if p.moved != nil {
		return errMoved
	}
	if err := b.catchUp(p.folder); err != nil { // the session may have moved
		return err
	}
	nodes, _, err := b.children(p.folder, p.recipe)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	node := nodeOf(nodes, p.prefix)
	if node == "" {
		b.losePlace(p)
		return driver.ErrLost
	}
	b.move(p, node)
	return errMoved
}

// loseUnmoved ends a place whose node is gone, unless it is becoming another one.
func (b *backend) loseUnmoved(p *place) {
	p.moving.RLock()
	defer p.moving.RUnlock()
	if p.moved == nil {
		b.losePlace(p)
	}
}

// move has a place go on with another node, "" if it is not known which one that is.
func (b *backend) move(p *place, node string) {
	next := b.newPlace(p.grant, p.folder)
	next.node, next.session = node, p.session
	p.mu.Lock()
	next.granted, next.written, next.lent = p.granted, p.written, p.lent
	p.mu.Unlock()
	p.moved = next
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.places[p.key] != p { // it was given back meanwhile, or is
		return
	}
	next.until = p.until
	b.places[p.key] = next
	b.book.Put(p.key, next, p.until)
	if node != "" {
		b.attendSoon(next)
	}
}
