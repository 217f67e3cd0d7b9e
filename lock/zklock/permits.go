package zklock

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// mostPermits is how many permits a grant may have: their nodes are made in one request, and names may be of a length
// with which fewer fit into it.
const mostPermits = 1000

const (
	// mostBytes is how long a request may be: servers close the connection of who sends a megabyte.
	mostBytes = 1000 << 10
	// stepBytes is what a step of a request has besides a path, data and an ACL, at most.
	stepBytes = 32
)

// takePermits makes a node for each permit that is wanted, where there is room for them, in one step; and keeps them
// if there was. Those count that were made before: of who has come at the same time the first get theirs. Curator's
// users count all, and so do not let in more, either. The mutex that they have meanwhile is for their line.
func (a *attempt) takePermits() (driver.Grant, error) {
	p := a.place
	if p.node == "" {
		if err := a.findPermits(); err != nil {
			return driver.Grant{}, err
		}
	}
	if p.node == "" {
		if err := a.makePermits(); err != nil {
			return driver.Grant{}, err
		}
	}
	trip := a.b.conn.generation.Load()
	nodes, folder, err := a.listBoth()
	if err != nil {
		return driver.Grant{}, cmp.Or(a.leaveOtherKind(err), err)
	}
	at := slices.Index(nodes, p.node)
	if at < 0 || !hasEach(nodes, p.more) || p.session != 0 && p.session != a.b.conn.session.Load() {
		return driver.Grant{}, cmp.Or(a.removePlace(), a.nodeGone())
	}
	if p.session == 0 {
		if err := a.enterNode(folder, trip, len(nodes) == a.req.Permits); err != nil {
			return driver.Grant{}, err
		}
	}
	if !p.isGranted() && p.countUpTo(nodes) > a.req.Limit {
		return driver.Grant{}, cmp.Or(a.removePlace(), a.refusalByLeases(nodes))
	}
	return a.becomeGrant(), nil
}

// isGranted reports whether a place is a grant already.
func (p *place) isGranted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.granted
}

// hasEach reports whether a list has all of another one.
func hasEach(nodes, wanted []string) bool {
	for _, n := range wanted {
		if !slices.Contains(nodes, n) {
			return false
		}
	}
	return true
}

// countUpTo counts the leases that were made before those of a place, and its own. What has no number counts, too.
func (p *place) countUpTo(nodes []string) (n int) {
	last := p.node
	if len(p.more) > 0 {
		last = p.more[len(p.more)-1]
	}
	for _, node := range nodes {
		if p.recipe.sequenceOf(node) <= p.recipe.sequenceOf(last) {
			n++
		}
	}
	return n
}

// findPermits looks for the leases of the owner, and refuses a request for which there is no room.
func (a *attempt) findPermits() error {
	p := a.place
	nodes, folder, err := a.list()
	if err != nil {
		return err
	}
	a.before = folder
	own := ofPrefix(nodes, p.prefix)
	switch {
	case len(own) == a.req.Permits && a.ours:
		p.node, p.more = own[0], own[1:]
	case len(own) > 0: // their time is over, and they are being deleted
		if _, err := a.b.removeAll(p.folder, own); err != nil {
			return driver.Spent(err)
		}
		return a.findPermits()
	case a.mayBeBehind():
		return cmp.Or(a.syncNow(), errMoved)
	case len(nodes)+a.req.Permits <= a.req.Limit:
	case !a.isFresh():
		return cmp.Or(a.syncNow(), errMoved)
	default:
		a.ours = false
		return a.refusalByLeases(nodes)
	}
	return nil
}

// makePermits makes the leases in one step.
func (a *attempt) makePermits() error {
	steps, err := a.stepsOfPermits()
	if err != nil {
		return err
	}
	p, before := a.place, a.ours
	a.ours, a.made = true, a.b.conn.generation.Load()
	made, err := a.b.conn.library().Multi(steps...)
	if err == nil {
		p.written = a.nodeData()
		p.node, p.more = nameIn(made[0].String), nil
		for _, m := range made[1:] {
			p.more = append(p.more, nameIn(m.String))
		}
		return nil
	}
	a.ours = before || classOf(err) == nil && !errors.Is(err, zk.ErrNoNode)
	if !errors.Is(err, zk.ErrNoNode) {
		return lacking(mayCreate, p.folder, err)
	}
	if err := a.checkFolder(); err != nil {
		return err
	}
	return a.withFolder(err)
}

// stepsOfPermits are those that make the leases. More than fit into a request are refused.
func (a *attempt) stepsOfPermits() ([]any, error) {
	path, acl := a.place.folder+"/"+a.place.prefix+leaseWord, a.b.conn.acl
	data, bare := a.nodeData(), (&record{Owner: a.req.Owner}).bytes()
	each := len(path) + len(bare) + stepBytes
	for _, who := range acl {
		each += len(who.Scheme) + len(who.ID) + stepBytes
	}
	if most := (mostBytes - len(data)) / each; a.req.Permits > most {
		return nil, fmt.Errorf("%w: %d permits at once, each of which is a node: with this name %d at most",
			driver.ErrRefused, a.req.Permits, most)
	}
	steps := make([]any, 0, a.req.Permits)
	for range a.req.Permits {
		steps = append(steps, &zk.CreateRequest{
			Path: path, Data: data, Acl: acl, Flags: zk.FlagEphemeral | zk.FlagSequence,
		})
		data = bare // the first says it all
	}
	return steps, nil
}

// checkFolder refuses a semaphore in the folder of another kind of lock.
func (a *attempt) checkFolder() error {
	nodes, _, err := a.b.conn.library().Children(above(a.place.folder))
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	for _, n := range nodes {
		if found, told := recipeOf(n); told {
			return otherRecipe(found, leases)
		}
	}
	return lacking(mayRead, above(a.place.folder), err)
}

// listBoth lists the leases, and checks the folder of the semaphore meanwhile.
func (a *attempt) listBoth() ([]string, *zk.Stat, error) {
	var (
		checking sync.WaitGroup
		wrong    error
	)
	checking.Go(func() { wrong = a.checkFolder() })
	nodes, folder, err := a.list()
	checking.Wait()
	return nodes, folder, cmp.Or(wrong, err)
}

// refusalByLeases says who has a permit. Where somebody here listens, it is to changes of the leases from now on; if
// there has been one meanwhile, they are told.
func (a *attempt) refusalByLeases(nodes []string) error {
	p := a.place
	if a.b.hub.needs(p.grant.Name, leasesFolder) {
		now, err := a.b.hub.armLeases(p.grant.Name, p.folder)
		if err != nil {
			return err
		}
		if len(now) < len(nodes) {
			a.b.hub.wakeName(p.grant.Name)
		}
	}
	refusal := &driver.HeldError{TTL: driver.UnknownTTL}
	for _, n := range nodes {
		if n != p.node && !slices.Contains(p.more, n) {
			refusal.Owner = a.b.ownerAt(p, n)
			break
		}
	}
	return refusal
}

// hasAll reports whether all nodes of a grant of several permits are there.
func (b *backend) hasAll(p *place) (bool, error) {
	nodes, _, err := b.children(p.folder, p.recipe)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return hasEach(nodes, p.more), err
}
