package zklock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Acquire implements [driver.Backend]. It makes a node only where nobody has one, so that a try leaves nothing.
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return b.request(ctx, &req, false)
}

// Stand implements [driver.Successor]: the line is that of the nodes, which is Curator's, too.
func (b *backend) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return b.request(ctx, &req, b.inherit != nil)
}

// request makes a request once.
func (b *backend) request(ctx context.Context, req *driver.Request, stands bool) (driver.Grant, error) {
	a, err := b.newAttempt(ctx, req, stands)
	if err != nil {
		return driver.Grant{}, err
	}
	g, err := inSession(ctx, b, a.run)
	if err == nil || errors.Is(err, driver.ErrHeld) {
		return g, err
	}
	return driver.Grant{}, describe("acquire", req.Name, err)
}

// attempt is one request.
type attempt struct {
	b      *backend
	ctx    context.Context //nolint:containedctx // that of the request
	req    *driver.Request
	stands bool // it may be granted the lock when it is refused
	place  *place
	synced bool     // the server has caught up with the leader since the request was made
	listed uint64   // the connection over which the line was listed last
	ours   bool     // the owner has a node that goes on, or may have one: an earlier answer was lost
	left   bool     // the place is known to others meanwhile, since its node is
	made   uint64   // the connection over which this attempt has asked for the node; 0 if it has not
	before *zk.Stat // what was known of the folder before the node was made; nil if it was not looked at
	sent   time.Duration
}

// keptFor is for how long who waits has a place in the line without asking again, where it is not granted the lock
// unasked.
const keptFor = 5 * time.Second

// newAttempt refuses what cannot be asked for.
func (b *backend) newAttempt(ctx context.Context, req *driver.Request, stands bool) (*attempt, error) {
	if err := b.layout.checkSupported(req); err != nil {
		return nil, err
	}
	if err := driver.CheckOwner(req.Owner); err != nil {
		return nil, driver.Refused(err)
	}
	folder, err := b.layout.folderOf(req.Name, req.Mode)
	if err != nil {
		return nil, err
	}
	p := b.newPlace(req.Ungranted(), folder)
	if p.grant.Tokens = min(req.Tokens, maxBlock); req.Mode == driver.Write {
		p.grant.Tokens = min(req.Tokens, maxBlock/2) // the others are for who reads over it
	}
	return &attempt{b: b, ctx: ctx, req: req, stands: stands, place: p, sent: bootclock.Now()}, nil
}

// run makes the request. While it does, the place does not end by itself, and the owner asks for nothing else: an
// earlier request that its caller has left behind may make a node yet.
func (a *attempt) run() (driver.Grant, error) {
	if err := a.b.checkTTL(a.req.TTL); err != nil {
		return driver.Grant{}, err
	}
	leaveTurn, err := a.b.takeTurn(a.ctx, a.place.key)
	if err != nil {
		return driver.Grant{}, err
	}
	defer leaveTurn()
	before, stays, ending := a.b.askAbout(a.place.key)
	if before != nil && before.isOver() { // it is given back already
		a.b.leaveNode(before)
		ending = true
	}
	if ending {
		return driver.Grant{}, driver.Spent(fmt.Errorf("%w: its node is being removed", driver.ErrUnavailable))
	}
	if before != nil {
		a.place, a.ours, a.left = before, true, stays
	}
	if a.stands {
		a.b.replaceOther(a.place)
	}
	g, err := a.proceed()
	if a.left && !a.ours {
		a.b.enterAsked(a.place, bootclock.Now()) // unless it is gone already
	}
	if a.ours {
		lives := a.req.TTL
		if err != nil && a.staysInLine() && !a.stands {
			lives = keptFor
		}
		if !a.enterAfter(a.sent+lives) && err == nil {
			return driver.Grant{}, driver.Spent(errGivenBack)
		}
		if err != nil && a.made != 0 && !errors.Is(err, driver.ErrHeld) {
			err = &afterwardsError{err}
		}
	}
	return g, err
}

// errGivenBack says that what the owner has was given back, or lost, while it asked for it.
var errGivenBack = fmt.Errorf("%w: its node was given back meanwhile", driver.ErrUnavailable)

// enterAfter has the place of a request go on until then. It reports false if it does not.
func (a *attempt) enterAfter(until time.Duration) bool {
	if a.left {
		return a.b.enterAsked(a.place, until)
	}
	a.b.enterPlace(a.place, until)
	return true
}

// takeTurn waits until no other request of an owner is under way.
func (b *backend) takeTurn(ctx context.Context, key string) (leave func(), err error) {
	done := make(chan struct{})
	for {
		b.mu.Lock()
		other := b.asking[key]
		if other == nil {
			b.asking[key] = done
		}
		b.mu.Unlock()
		if other == nil {
			return func() { b.leaveTurn(key, done) }, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, notSent(context.Cause(ctx))
		}
	}
}

// leaveTurn lets the next request of an owner go on.
func (b *backend) leaveTurn(key string, done chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.asking, key)
	close(done)
}

// staysInLine reports whether the request leaves its node in the line when it is refused: those that come later, also
// in Java, have their turn after it. Permits have no line.
func (a *attempt) staysInLine() bool { return a.stands || a.req.Waits && a.place.recipe != leases }

// mostTries is how often a request goes back to its first step: others may remove the folder, or its own node.
const mostTries = 20

// proceed takes the steps: look, make a node, look where it stands.
func (a *attempt) proceed() (driver.Grant, error) {
	for range mostTries {
		if err := a.ctx.Err(); err != nil {
			return driver.Grant{}, notSent(err)
		}
		g, err := a.tryOnce()
		if !errors.Is(err, errMoved) {
			return g, err
		}
	}
	return driver.Grant{}, fmt.Errorf("%w: the folder is removed again and again", driver.ErrUnavailable)
}

// errMoved says that somebody has left the line meanwhile, or removed the folder.
var errMoved = errors.New("the line has moved")

// tryOnce takes the steps once.
func (a *attempt) tryOnce() (driver.Grant, error) {
	switch {
	case a.req.Mode == driver.Permit:
		return a.takePermits()
	case a.req.Over != "":
		return a.readOver()
	}
	if err := a.findNode(); err != nil {
		return driver.Grant{}, err
	}
	if a.place.node == "" {
		if err := a.makeNode(); err != nil {
			return driver.Grant{}, err
		}
	}
	return a.examine()
}

// list returns the nodes that stand in the line, in order, and what is known of their folder.
func (a *attempt) list() ([]string, *zk.Stat, error) {
	p := a.place
	a.listed = a.b.conn.generation.Load()
	nodes, folder, err := a.b.children(p.folder, p.recipe)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, &zk.Stat{}, nil
	}
	if err == nil && p.recipe != leases {
		nodes, err = a.b.inLine(p.folder, nodes, p.recipe)
	}
	return nodes, folder, err
}

// findNode looks for the node of the owner, and refuses a try where somebody is in the way. Who stays in the line need
// not look if this is its first request.
func (a *attempt) findNode() error {
	p := a.place
	if a.staysInLine() && !a.ours || p.node != "" {
		return nil
	}
	nodes, folder, err := a.list()
	if err != nil {
		return err
	}
	a.before = folder
	own, other := nodeOf(nodes, p.prefix), p.recipe.inTheWay(nodes, a.req.Mode)
	switch {
	case own != "" && a.ours:
		p.node = own
	case own != "": // its time is over, and it is being deleted
		if _, err := a.b.removeNode(p.folder + "/" + own); err != nil {
			return driver.Spent(err)
		}
		return a.findNode()
	case a.mayBeBehind(): // where an answer was lost, its node may be on its way here
		return a.catchUp()
	case other < 0 || a.staysInLine():
	case !a.isFresh():
		return a.catchUp()
	default:
		a.ours = false
		return a.b.refusalBy(p, nodes)
	}
	return nil
}

// isFresh reports whether the line was listed as it was when the request was made, or later. A server that stands alone
// knows everything.
func (a *attempt) isFresh() bool { return a.synced || a.b.conn.standsAlone(a.listed) }

// mayBeBehind reports whether the owner may have a node that the server has not heard of yet, though another one has
// made it: the session has moved. What was under way there before comes no more, see [backend.catchUp].
func (a *attempt) mayBeBehind() bool { return a.ours && !a.isFresh() }

// catchUp looks once more when the server knows all that the leader knows: a follower may still have the node of who
// has given the lock back.
func (a *attempt) catchUp() error {
	if err := a.syncNow(); err != nil {
		return err
	}
	return a.findNode()
}

// syncNow has the server hear all that the leader knows.
func (a *attempt) syncNow() error {
	err := a.b.catchUp(a.place.folder)
	a.synced = err == nil
	return err
}

// catchUp has the server hear all that the leader knows. Once it has, no request comes into force any more that was
// made over an earlier connection of the session: the leader takes those of the server where the session is.
func (b *backend) catchUp(folder string) error {
	_, err := b.conn.library().Sync(folder)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// makeNode makes a node at the end of the line.
func (a *attempt) makeNode() error {
	p, before := a.place, a.ours
	data := a.nodeData()
	a.ours, a.made = true, a.b.conn.generation.Load()
	path, err := a.b.conn.library().Create(p.folder+"/"+p.prefix+p.recipe.wordOf(a.req.Mode), data,
		zk.FlagEphemeral|zk.FlagSequence, a.b.conn.acl)
	if err == nil {
		p.written = data
		p.node = nameIn(path)
		return nil
	}
	a.ours = before || classOf(err) == nil && !errors.Is(err, zk.ErrNoNode)
	return a.withFolder(err)
}

// withFolder makes the folder where that was missing, and returns that it is worth another try then.
func (a *attempt) withFolder(err error) error {
	if !errors.Is(err, zk.ErrNoNode) {
		return lacking(mayCreate, a.place.folder, err)
	}
	return cmp.Or(a.b.makeFolder(a.place.folder), errMoved)
}

// nodeData is what the node is to say. Of a LeaderLatch that is who takes part, and nothing else.
func (a *attempt) nodeData() []byte {
	if a.place.recipe == elections {
		return []byte(a.req.Owner)
	}
	r := record{
		Owner: a.req.Owner, TTL: milliseconds(a.req.TTL), Meta: a.req.Meta, Hears: a.b.note != nil,
		Limit: a.req.Limit, Line: a.stands,
	}
	return r.bytes()
}

// nameIn is the name of the node that a path ends with.
func nameIn(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// makeFolder makes a container, and those above it.
func (b *backend) makeFolder(path string) error {
	for range mostTries {
		_, err := b.conn.library().CreateContainer(path, nil, zk.FlagContainer, b.conn.acl)
		if err == nil || errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		folder := above(path)
		if !errors.Is(err, zk.ErrNoNode) || folder == "/" {
			return lacking(mayCreate, folder, err)
		}
		if err := b.makeFolder(folder); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %s is removed again and again", driver.ErrUnavailable, path)
}

// examine looks where the node stands: if nobody is in its way, it has the lock.
func (a *attempt) examine() (driver.Grant, error) {
	p := a.place
	trip := a.b.conn.generation.Load()
	nodes, folder, err := a.list()
	if err != nil {
		return driver.Grant{}, cmp.Or(a.leaveOtherKind(err), err)
	}
	at := slices.Index(nodes, p.node)
	if at < 0 || p.session != 0 && p.session != a.b.conn.session.Load() {
		return driver.Grant{}, a.nodeGone()
	}
	if p.session == 0 {
		if err := a.enterNode(folder, trip, len(nodes) == 1); err != nil {
			return driver.Grant{}, err
		}
	}
	switch {
	case p.recipe.ahead(nodes, at) < 0:
		return a.becomeGrant(), nil
	case a.staysInLine():
		return driver.Grant{}, a.standBehind(nodes, at, trip)
	}
	return driver.Grant{}, cmp.Or(a.removePlace(), a.b.refusalBy(p, nodes))
}

// becomeGrant has the place be a grant.
func (a *attempt) becomeGrant() driver.Grant {
	g := a.b.grantPlace(a.place)
	g.TTL = a.req.TTL
	return g
}

// leaveOtherKind removes the node of who may not stand there, as an error says: the lock is of another kind.
func (a *attempt) leaveOtherKind(why error) error {
	if !errors.Is(why, driver.ErrKind) {
		return nil
	}
	return a.removePlace()
}

// nodeGone says that somebody has removed the node, or that an old session has left it.
func (a *attempt) nodeGone() error {
	a.ours = false
	a.b.loseUnmoved(a.place)
	return driver.Spent(fmt.Errorf("%w: its node was removed", driver.ErrUnavailable))
}

// enterNode enters what is known of a new node, or says why it may not stand there. Once that is done others read it.
//
// The token is the transaction that has made the node. If nothing else has changed in the folder, over this very
// connection, that is its last change. Of the node of who stands, and is alone, that is good enough: it may be a later
// one, older than all nodes to come.
func (a *attempt) enterNode(folder *zk.Stat, trip uint64, alone bool) error {
	p, zxid, session := a.place, folder.Pzxid, a.b.conn.session.Load()
	told := alone && a.stands || a.isOnlyChange(folder)
	if !told || session == 0 || a.made != trip || trip != a.b.conn.generation.Load() {
		there, stat, err := a.b.conn.library().Exists(p.path())
		if err != nil {
			return err
		}
		if session == 0 || !there || stat.EphemeralOwner != session {
			return a.nodeGone()
		}
		zxid = stat.Czxid
	}
	token, err := tokenOf(zxid)
	if err := cmp.Or(a.b.checkSequence(p), err); err != nil {
		return cmp.Or(a.removePlace(), err)
	}
	p.session, p.grant.Token = session, token
	return nil
}

// isOnlyChange reports whether nothing has changed in the folder since it was looked at but that the nodes of this
// attempt were made.
func (a *attempt) isOnlyChange(folder *zk.Stat) bool {
	return a.before != nil && a.before.Czxid == folder.Czxid &&
		folder.Cversion == a.before.Cversion+1+int32(len(a.place.more))
}

// grantPlace has a place be a grant.
func (b *backend) grantPlace(p *place) driver.Grant {
	b.leaveLine(p)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.granted = true
	b.attendSoon(p)
	return p.grant
}

// attendSoon begins to follow the fate of a grant in a moment. p.mu is held, or nobody else knows of p yet.
func (b *backend) attendSoon(p *place) {
	if !p.attended && p.timer == nil {
		p.timer = time.AfterFunc(soonAttended, func() { b.attendGrant(p) })
	}
}

// removePlace deletes the node of who was refused. If it is open whether that is done, the owner is not to be used
// again.
func (a *attempt) removePlace() error {
	if _, err := a.b.removeNodes(a.place); err != nil {
		a.ours = false
		a.b.leaveNode(a.place)
		return driver.Spent(err)
	}
	a.b.dropPlace(a.place)
	a.ours = false
	return nil
}

// checkSequence refuses a node whose number does not tell it from others, and warns while there is time.
func (b *backend) checkSequence(p *place) error {
	n := p.recipe.sequenceOf(p.node)
	if n >= nearTheEnd && n < lastSequence && b.warned.allows(time.Minute) {
		b.opts.Lock.Logger.Warn("zklock: the numbers of nodes below a lock come to an end: let nobody want it for a "+
			"few minutes, so that its container is removed, or delete it", "path", p.folder, "number", n,
			"last", lastSequence)
	}
	if n < 0 || n >= lastSequence {
		return fmt.Errorf("%w: node %s has no number of its own, the servers give out numbers up to %d: "+
			"delete the empty folder, so that they begin again", driver.ErrRefused, p.path(), lastSequence-1)
	}
	return nil
}

// limiter lets something through once in a while.
type limiter struct{ last atomic.Int64 }

// allows reports whether the last time is so long ago.
func (l *limiter) allows(every time.Duration) bool {
	now, last := int64(bootclock.Now()), l.last.Load()
	return (last == 0 || now-last >= int64(every)) && l.last.CompareAndSwap(last, now)
}
