package etcdlock

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// line is what is known of those who have a lock or wait for it: a copy of its keys, kept by one watch of the store
// however many of this client wait. It goes on for a while when nobody does.
type line struct {
	b      *backend
	name   string
	folder string
	listed chan struct{} // closed when there is a copy for the first time, or none to be had

	mu       sync.Mutex
	keys     []contender // those of mutexes, in order of their create revisions
	others   crowd       // and the others
	revision int64       // that of the copy
	first    string      // the key that was first when that was looked at
	shown    state       // and what it had by that
	current  bool        // a watch goes on
	failure  error       // why there is no copy
	over     bool        // nobody keeps it any more
	watches  map[*watch]struct{}
	told     []func() // what is to be told when mu is free
}

const (
	// lineLingers is for how long a line is kept that nobody needs.
	lineLingers = time.Second
	// firstRetry and longestRetry are the pauses when the line cannot be read.
	firstRetry   = 10 * time.Millisecond
	longestRetry = time.Second
)

// followLine returns the copy of a line that is kept from now on, nil if the backend is closed.
func (b *backend) followLine(name string) *line {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	l := b.lines[name]
	if l != nil && !l.isOver() {
		b.work.Go(l.lookAgain)
		return l
	}
	l = &line{
		b: b, name: name, folder: b.layout.folder(name), listed: make(chan struct{}),
		watches: make(map[*watch]struct{}),
	}
	b.lines[name] = l
	b.work.Go(l.run)
	return l
}

// followed returns the copy of a line if there is one.
func (b *backend) followed(name string) *line {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines[name]
}

func (l *line) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// run keeps the copy for as long as somebody needs it.
func (l *line) run() {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(l.b.life))
	defer cancel()
	pause := firstRetry
	for {
		revision, err := l.readKeys(ctx)
		if err == nil {
			pause = firstRetry
			if l.followFrom(ctx, revision+1) {
				return
			}
		} else if l.fails(err) {
			return
		}
		if !sleep.For(ctx, pause) || l.endIfIdle() {
			l.endLine(errClosed)
			return
		}
		pause = min(2*pause, longestRetry)
	}
}

// fails records that the line cannot be read. It reports whether that will stay so.
func (l *line) fails(err error) bool {
	if !isRefusal(codeOf(err)) {
		return false
	}
	l.endLine(err)
	return true
}

// endLine ends the copy, and whoever waits for it.
func (l *line) endLine(failure error) {
	l.mu.Lock()
	l.over, l.current, l.failure = true, false, failure
	for w := range l.watches {
		w.leaveSignal()
	}
	l.mu.Unlock()
	l.endListing()
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if l.b.lines[l.name] == l {
		delete(l.b.lines, l.name)
	}
}

// endListing lets those go on who wait for the first copy.
func (l *line) endListing() {
	select {
	case <-l.listed:
	default:
		close(l.listed)
	}
}

// readKeys copies the line. Since whatever has happened before was not seen, everybody is told to look.
func (l *line) readKeys(ctx context.Context) (revision int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	resp, err := l.b.client.Get(ctx, l.folder, clientv3.WithRange(endOf(l.folder)),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	before := slices.Clone(l.keys)
	for _, c := range l.others.admitted() {
		before = append(before, *c)
	}
	l.keys, l.others = l.b.layout.readLine(l.folder, resp.Kvs)
	l.revision, l.current = resp.Header.Revision, true
	for i := range before {
		same := func(c contender) bool { return c.key == before[i].key && c.created == before[i].created }
		if !slices.ContainsFunc(l.keys, same) && !slices.ContainsFunc(l.others, same) {
			l.recordLoss(&before[i])
		}
	}
	l.first = ""
	l.serveFirst()
	for w := range l.watches {
		w.leaveSignal()
	}
	l.unlockAndTell()
	l.endListing()
	return resp.Header.Revision, nil
}

// readTime is how long one try to read a line may take.
const readTime = 5 * time.Second

// followFrom has the copy change with the store's. It returns when that is not possible any more, and reports whether
// the line is over.
func (l *line) followFrom(ctx context.Context, revision int64) (over bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := l.b.client.Watch(ctx, l.folder, clientv3.WithRange(endOf(l.folder)), clientv3.WithRev(revision))
	idle := time.NewTicker(lineLingers)
	defer idle.Stop()
	for {
		select {
		case resp, ok := <-events:
			if !ok || resp.Err() != nil {
				return l.breakOff()
			}
			l.enterEvents(resp.Events)
		case <-idle.C:
			if l.endIfIdle() {
				l.endLine(nil)
				return true
			}
		case <-ctx.Done():
			l.endLine(errClosed)
			return true
		}
	}
}

// breakOff records that the copy does not change any more with the store's.
func (l *line) breakOff() (over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = false
	return false
}

// endIfIdle ends the line if nobody needs it.
func (l *line) endIfIdle() bool {
	waiting := l.b.grants.isQueuedFor(l.name)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = l.over || !waiting && len(l.watches) == 0
	return l.over
}

// enterEvents has the copy follow what has happened. What one transaction has done is one step: nobody is the first
// in between.
func (l *line) enterEvents(events []*clientv3.Event) {
	l.mu.Lock()
	defer l.unlockAndTell()
	first := 0
	for i, e := range events {
		l.revision = e.Kv.ModRevision
		if i+1 == len(events) || events[i+1].Kv.ModRevision != l.revision {
			l.enterStep(events[first : i+1])
			first = i + 1
		}
	}
}

// enterStep has the copy follow one transaction. l.mu is held.
func (l *line) enterStep(events []*clientv3.Event) {
	mutex, changes := false, step{}
	for _, e := range events {
		if at := l.others.find(string(e.Kv.Key)); e.Type == mvccpb.DELETE && at >= 0 {
			changes.gone = append(changes.gone, l.others[at])
			l.others = slices.Delete(l.others, at, at+1)
			continue
		}
		c, ok := l.b.layout.readContender(l.folder, e.Kv)
		switch {
		case e.Type == mvccpb.DELETE:
			l.removeKey(string(e.Kv.Key))
			mutex = true
		case ok && c.crowd:
			changes.came = append(changes.came, c)
			changes.changed = append(changes.changed, l.others.replace(&c)...)
		case ok:
			l.setKey(&c)
			mutex = true
		}
	}
	if mutex {
		l.serveFirst()
	}
	l.serveCrowd(&changes)
}

// setKey enters a key that is new, or has another record. l.mu is held.
func (l *line) setKey(c *contender) {
	for i := range l.keys {
		if l.keys[i].key == c.key {
			l.keys[i] = *c
			return
		}
	}
	l.keys = append(l.keys, *c) // it is the newest
}

// removeKey enters that a key was deleted. l.mu is held.
func (l *line) removeKey(key string) {
	at := slices.IndexFunc(l.keys, func(c contender) bool { return c.key == key })
	if at < 0 {
		return
	}
	gone := l.keys[at]
	l.keys = slices.Delete(l.keys, at, at+1)
	l.recordLoss(&gone)
}

// recordLoss tells of a key of this client that somebody else has deleted. l.mu is held.
func (l *line) recordLoss(c *contender) {
	e := l.b.grants.enterLoss(l.b.layout.key(l.name, c.owner), c)
	if e == nil {
		return
	}
	if e.token != 0 {
		if l.b.note != nil {
			m := driver.Message{Name: e.name, Owner: e.owner, Kind: driver.Taken}
			l.told = append(l.told, func() { l.b.note(m) })
		}
		return
	}
	l.tellWaiters(&e.req) // it has no place any more, and asks anew
}

// tellWaiters has those ask who wait by a request. l.mu is held.
func (l *line) tellWaiters(req *driver.Request) {
	g := req.Ungranted()
	if l.b.tell != nil && g.Owner != "" {
		l.told = append(l.told, func() { l.b.tell(g) })
	}
	for w := range l.watches {
		if w.owner == "" || w.owner == g.Owner {
			w.leaveSignal()
		}
	}
}

// serveFirst gives the lock to the first in line, if that is one of this client, or tells it that it is its turn; or
// tells all who listen that nobody has the lock. l.mu is held.
func (l *line) serveFirst() {
	if len(l.keys) == 0 {
		l.first = ""
		for w := range l.watches {
			if w.kind == driver.Mutex {
				w.leaveSignal()
			}
		}
		return
	}
	first := &l.keys[0]
	if first.own && first.state == stands {
		if g, ok := l.b.grants.grantUnasked(first, l.revision); ok && l.b.tell != nil {
			l.told = append(l.told, func() { l.b.tell(g) })
		}
	}
	asks := first.state == waits || l.b.layout.elects
	if first.own && asks && l.first != first.key && l.b.grants.find(first.key) != nil {
		l.signalTurn(first)
	}
	if l.first != first.key || l.shown != first.state {
		l.signalObservers()
	}
	l.first, l.shown = first.key, first.state
}

// signalObservers tells those who only look that somebody else has the lock. Where all wait, nobody is told: who waits
// hears of its own turn, and is not to be woken by all others'. l.mu is held.
func (l *line) signalObservers() {
	var listening []*watch
	for w := range l.watches {
		if w.kind == driver.Mutex && w.owner == "" {
			listening = append(listening, w)
		}
	}
	if len(listening) <= l.b.grants.countListening(l.name) {
		return
	}
	for _, w := range listening { // they do not tell which of them waits
		w.leaveSignal()
	}
}

// signalTurn tells somebody that it is its turn. l.mu is held.
func (l *line) signalTurn(first *contender) {
	for w := range l.watches {
		if w.owner == first.owner || w.owner == "" && first.word != fair {
			w.leaveSignal()
		}
	}
}

// lookAgain serves the first, who may have been in the copy before it was known here that it stands.
func (l *line) lookAgain() {
	l.mu.Lock()
	l.serveFirst()
	l.unlockAndTell()
}

// unlockAndTell tells what there is to tell: who is told may lock what somebody else has who calls this line.
func (l *line) unlockAndTell() {
	told := l.told
	l.told = nil
	l.mu.Unlock()
	for _, tell := range told {
		tell()
	}
}
