package etcdlock

import (
	"context"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/tenure"
)

// entry is what this client has in the store, or may have: a key of its own.
type entry struct {
	name, owner string
	key         string // by which it is known here
	grantKey    string // by which it has the lock: the same, of a mutex

	// The rest is guarded by the ledger.
	req       driver.Request
	state     state
	lease     *lease
	created   int64 // revision, 0 if it is not known to be there
	token     int64 // revision of the grant, 0 if it is not granted
	until     time.Duration
	queued    bool // it waits, or stands
	releasing bool // a request that deletes the key may have been sent
	ending    bool // its time is over
}

// ledger has the entries of a client, each until the store has nothing of it any more. A tenure book ends those that
// are not prolonged in time: the lease they are kept by lives on.
type ledger struct {
	book *tenure.Book[*entry]

	mu       sync.Mutex
	all      map[string]*entry   // by key
	queued   map[string][]*entry // by name, those that wait or stand
	released recent
}

// recent remembers the keys of the last releases, so that a repeated release is recognised.
type recent struct {
	keys [256]string
	next int
}

func (r *recent) add(key string) {
	r.keys[r.next] = key
	r.next = (r.next + 1) % len(r.keys)
}

func (r *recent) contains(key string) bool { return slices.Contains(r.keys[:], key) }

// newLedger returns an empty one. What is over is deleted by end.
func newLedger(end func(ctx context.Context, e *entry) error) *ledger {
	l := &ledger{all: make(map[string]*entry), queued: make(map[string][]*entry)}
	l.book = tenure.New(func(ctx context.Context, e *entry) error {
		if !l.beginEnding(e) {
			return nil
		}
		if err := end(ctx, e); err != nil {
			return err
		}
		l.forgetEntry(e)
		return nil
	})
	return l
}

// beginRequest enters that a request is about to be made, which may leave a key of its own until at. It returns what
// is there of the same owner, if that goes on, and reports whether that is new.
func (l *ledger) beginRequest(
	req *driver.Request, where layout, at time.Duration,
) (e *entry, isNew bool, err error) {
	key := where.key(req.Name, req.Owner)
	l.mu.Lock()
	defer l.mu.Unlock()
	e = l.all[key]
	switch {
	case e == nil:
		e = &entry{
			name: req.Name, owner: req.Owner, key: key, grantKey: where.grantKey(req), req: *req, until: at,
		}
		l.all[key] = e
		l.book.Put(key, e, at)
		return e, true, nil
	case e.ending:
		return nil, false, errBehind
	}
	if !l.book.Prolong(key, at) { // its time was over a moment ago
		return nil, false, errBehind
	}
	e.req, e.until = *req, at
	return e, false, nil
}

// find returns what this client has at a key.
func (l *ledger) find(key string) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[key]
}

// beginEnding enters that the time of an entry is over. It reports false of one that is not there any more.
func (l *ledger) beginEnding(e *entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[e.key] != e {
		return false
	}
	e.ending = true
	return true
}

// forgetEntry removes an entry of which the store has nothing.
func (l *ledger) forgetEntry(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(e)
}

// forgetLost removes an entry that is gone, unless its release is under way: then it is that which has ended it, and
// which has yet to say so.
func (l *ledger) forgetLost(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !e.releasing {
		l.remove(e)
	}
}

// forgetAttempt removes an entry of which an attempt has left nothing that was to go on until then, unless another
// request of its owner has begun since.
func (l *ledger) forgetAttempt(e *entry, until time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !e.releasing && e.until == until {
		l.remove(e)
	}
}

// remove takes an entry out. l.mu is held.
func (l *ledger) remove(e *entry) {
	if l.all[e.key] != e {
		return
	}
	delete(l.all, e.key)
	l.book.Take(e.key)
	l.leaveQueue(e)
}

// leaveQueue enters that an entry does not wait any more. l.mu is held.
func (l *ledger) leaveQueue(e *entry) {
	if !e.queued {
		return
	}
	e.queued = false
	rest := slices.DeleteFunc(l.queued[e.name], func(o *entry) bool { return o == e })
	if l.queued[e.name] = rest; len(rest) == 0 {
		delete(l.queued, e.name)
	}
}

// enterQueue enters that an entry has a place in the line since a revision, until at.
func (l *ledger) enterQueue(e *entry, c *contender, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[e.key] != e || e.ending {
		return
	}
	if !e.queued {
		e.queued = true
		l.queued[e.name] = append(l.queued[e.name], e)
	}
	e.state, e.created, e.until = c.state, c.created, at
	l.book.Prolong(e.key, at)
}

// enterGrant enters that an entry has the lock since a revision, unless it has it already, and returns what it has.
func (l *ledger) enterGrant(e *entry, created, since int64) driver.Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaveQueue(e)
	if e.token == 0 || e.created != created {
		e.created, e.token = created, since
	}
	return e.asGrant()
}

// grantUnasked enters that an entry which stands is the first since a revision. It reports false if it does not
// stand, or has the lock already.
func (l *ledger) grantUnasked(c *contender, since int64) (g driver.Grant, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.all[c.key]
	if e == nil || !e.queued || e.ending || e.releasing || e.state != stands || e.created != c.created {
		return g, false
	}
	l.leaveQueue(e)
	e.token = since
	return e.asGrant(), true
}

// asGrant returns what an entry has that is granted.
func (e *entry) asGrant() driver.Grant {
	g := e.req.Ungranted()
	g.Token, g.Tokens = firstToken(e.token), e.req.Tokens
	return g
}

// prolong has what an entry has end at another time. It reports false if its time is over.
func (l *ledger) prolong(e *entry, at time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[e.key] != e || e.ending || !l.book.Prolong(e.key, at) {
		return false
	}
	e.until = at
	return true
}

// atLeast has what an entry has not end before a time. It reports false if its time is over.
func (l *ledger) atLeast(e *entry, at time.Duration) bool {
	l.mu.Lock()
	until := e.until
	l.mu.Unlock()
	return l.prolong(e, max(at, until))
}

// beginRelease enters that a key is about to be deleted.
func (l *ledger) beginRelease(key string) (e *entry, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e = l.all[key]; e != nil {
		again, e.releasing = e.releasing, true
	}
	return e, again
}

// endRelease enters that nothing is at a key any more, and reports whether that is the success of a release: it was
// granted, and it was there, or the release was made before.
func (l *ledger) endRelease(key string, wasThere, again, granted bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.all[key]; e != nil && e.releasing {
		granted = granted || e.token != 0
		l.remove(e)
	}
	done := granted && (wasThere || again)
	if done {
		l.released.add(key)
	}
	return done || l.released.contains(key)
}

// enterLoss enters that somebody else has deleted a key. It returns what was there of this client that it does not
// know of. key is that by which it is known here.
func (l *ledger) enterLoss(key string, c *contender) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.all[key]
	if e == nil || e.releasing || e.ending || e.created != c.created {
		return nil
	}
	l.remove(e)
	return e
}

// isQueuedFor reports whether anything of this client waits for a name.
func (l *ledger) isQueuedFor(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queued[name]) > 0
}

// countListening returns how many of this client wait for a mutex by listening as those do who only look: who is in a
// fair line listens for its own turn.
func (l *ledger) countListening(name string) (n int) {
	for _, req := range l.queuedFor(name) {
		if req.Mode == driver.Exclusive && !req.Fair {
			n++
		}
	}
	return n
}

// queuedFor returns what those of this client have asked for who wait for a name.
func (l *ledger) queuedFor(name string) (reqs []driver.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.queued[name] {
		reqs = append(reqs, e.req)
	}
	return reqs
}

// keepsFrom reports whether anything is kept by a lease.
func (l *ledger) keepsFrom(of *lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		if e.lease == of {
			return true
		}
	}
	return false
}

// setLease enters by which lease an entry is kept.
func (l *ledger) setLease(e *entry, by *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.lease = by
}

// keptBy returns by which lease an entry is kept, as far as that is known, and the revision at which its key was made,
// 0 if that is not known.
func (l *ledger) keptBy(e *entry) (by clientv3.LeaseID, created int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.lease != nil {
		by = e.lease.id
	}
	return by, e.created
}

// leaseOf returns by which lease an entry is kept, and whether its time goes on.
func (l *ledger) leaseOf(e *entry) (by *lease, created int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return e.lease, e.created, !e.ending && e.token != 0
}

// isUndecided reports whether it is not known yet what an entry has.
func (l *ledger) isUndecided(e *entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !e.ending && !e.releasing && !e.queued && e.token == 0
}
