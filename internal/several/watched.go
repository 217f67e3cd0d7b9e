package several

import (
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// straggle is how long the rest of a release is waited for that some nodes have told of.
const straggle = 5 * time.Millisecond

// Watched is what those who wait for a name here know of it together.
type Watched struct {
	stores  *Stores
	watches int // guarded by stores.mu

	mu      sync.Mutex
	told    []bool      // which nodes have told of a release, since the name was asked for last
	refused []bool      // which have refused it then; nil if not all were asked
	granted int         // and how many have given their votes, which were given back
	late    *time.Timer // tells on what is not complete; nil while nothing was told
	all     map[*watch]struct{}

	first string        // who has the first node, as it was told last
	since time.Duration // since when
	whole bool          // that one has the lock, as the others said

	probing bool          // nodes that have refused the name are asked for a sign of life
	probed  time.Duration // when that was done last

	rival      string        // who has most of the others' votes, and not enough for the lock; nobody if it is empty
	rivalSince time.Duration // since when
}

// WatchedName returns what is known of a name that somebody waits for here; nil if nobody does.
func (s *Stores) WatchedName(name string) *Watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[name]
}

// Asks forgets what was told before: the nodes are about to be asked.
func (w *Watched) Asks() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.told)
	w.refused, w.granted = nil, 0
}

// Refused records which nodes have refused the name, and how many have not. What was given back to the others is no
// news: so many who wait would wake each other for ever.
func (w *Watched) Refused(by []*Node, granted int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused, w.granted = make([]bool, len(w.told)), granted
	for _, n := range by {
		w.refused[n.index] = true
	}
	w.tellIfComplete()
}

// FirstRefused records who has the first node. It reports for how long that has been the same one, and whether that
// one has the lock for certain.
func (w *Watched) FirstRefused(owner string) (same time.Duration, whole bool) {
	now := w.stores.Now()
	owner = driver.AsPublicOwner(owner)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first != owner {
		w.first, w.since, w.whole = owner, now, false
	}
	return now - w.since, w.whole
}

// Learned records who has the lock, as most nodes say; nobody for certain if it is empty.
func (w *Watched) Learned(holder string) {
	if w == nil {
		return
	}
	now := w.stores.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = now
	w.whole = holder != "" && driver.AsPublicOwner(holder) == w.first
}

// Rival records who has most of the votes that are missing, and has not the lock; nobody if it is empty. It reports
// for how long that has been the same one.
func (w *Watched) Rival(owner string) (same time.Duration) {
	if w == nil {
		return 0
	}
	now := w.stores.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if public := driver.AsPublicOwner(owner); w.rival != public || owner == "" {
		w.rival, w.rivalSince = public, now
	}
	return now - w.rivalSince
}

// hear records that a node has told of a release.
func (w *Watched) hear(n *Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[n.index] = true
	w.whole = false // whoever had the lock may be the one who has released it
	w.tellIfComplete()
}

// tellIfComplete tells on a release once enough nodes have told of it, or a little later. w.mu is held.
func (w *Watched) tellIfComplete() {
	now, soon := w.stores.rules.Complete(w.told, w.refused, w.granted)
	switch {
	case now:
		w.tellOn()
	case !soon:
		w.probeRefusing()
	case w.late == nil:
		w.late = time.AfterFunc(straggle, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.late != nil {
				w.tellOn()
			}
		})
	}
}

// probeAgain is the pause between two looks at nodes that have refused a name.
const probeAgain = 250 * time.Millisecond

// probeRefusing looks whether those that have refused the name are there, when others have told of a release: if one
// is not, it will tell of none. w.mu is held.
func (w *Watched) probeRefusing() {
	now := w.stores.Now()
	if w.probing || w.refused == nil || !w.stores.rules.OnlyPings || !slices.Contains(w.told, true) ||
		w.probed > 0 && now-w.probed < probeAgain {
		return
	}
	var nodes []*Node
	for i, n := range w.stores.Nodes {
		if w.refused[i] {
			nodes = append(nodes, n)
		}
	}
	w.probing, w.probed = true, max(now, 1)
	w.stores.work.Go(func() { w.probe(nodes) })
}

func (w *Watched) probe(nodes []*Node) {
	gone := false
	for _, n := range nodes {
		n.pingWithin(w.stores.rules.Listen)
		gone = gone || n.IsAway()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.probing = false; gone {
		w.tellOn()
	}
}

// tellOn tells on. w.mu is held.
func (w *Watched) tellOn() {
	clear(w.told)
	w.stopLate()
	for watch := range w.all {
		select {
		case watch.c <- struct{}{}:
		default:
		}
	}
}

func (w *Watched) stopLate() {
	if w.late != nil {
		w.late.Stop()
		w.late = nil
	}
}

// enterWatch enters a watch among those of its name.
func (s *Stores) enterWatch(w *watch) *Watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.watched[w.name]
	if all == nil {
		all = &Watched{stores: s, told: make([]bool, len(s.Nodes)), all: make(map[*watch]struct{})}
		s.watched[w.name] = all
	}
	all.watches++
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all[w] = struct{}{}
	return all
}

func (s *Stores) leaveWatch(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := w.watched
	if all.watches--; all.watches == 0 {
		delete(s.watched, w.name)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if delete(all.all, w); len(all.all) == 0 {
		all.stopLate()
	}
}
