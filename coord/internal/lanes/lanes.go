package lanes

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/txn"
)

// Lanes keeps calls to one target or host from crowding out the others.
type Lanes struct {
	perTarget, perHost int
	changed            func(name string, c Change)
	draw               chance.Draw

	mu    sync.Mutex
	lane  map[string]*Lane
	open  map[string]*Lane // those whose breakers are open
	hosts map[string]chan struct{}
	ended bool
}

// manyLanes is when lanes that are not in use are forgotten. Targets whose paths
// contain IDs would otherwise pile up.
const manyLanes = 4096

// New makes the lanes of a coordinator: so many calls at once to each target and host.
// The function is told when a target goes down, comes back or recovers.
func New(perTarget, perHost int, draw chance.Draw, changed func(name string, c Change)) *Lanes {
	return &Lanes{
		perTarget: perTarget, perHost: perHost, draw: draw, changed: changed,
		lane: make(map[string]*Lane), open: make(map[string]*Lane), hosts: make(map[string]chan struct{}),
	}
}

// Get finds or makes a lane.
func (ls *Lanes) Get(t txn.Target) *Lane {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l, ok := ls.lane[string(t)]; ok {
		return l
	}
	name, host := NameOf(t)
	l, ok := ls.lane[name]
	if !ok {
		ls.removeUnused()
		l = &Lane{name: name, slots: make(chan struct{}, ls.perTarget), host: ls.hostSlots(host)}
		l.breaker.draw = ls.draw
		ls.lane[name] = l
	}
	return l
}

func (ls *Lanes) hostSlots(host string) chan struct{} {
	if host == "" {
		return nil
	}
	slots, ok := ls.hosts[host]
	if !ok {
		slots = make(chan struct{}, ls.perHost)
		ls.hosts[host] = slots
	}
	return slots
}

// removeUnused drops lanes, and then hosts, that nobody uses. A lane that is kept keeps its
// host, whose slots would be there twice otherwise. A call that still holds a
// forgotten lane gives its slots back to it and to nobody else.
func (ls *Lanes) removeUnused() {
	if len(ls.lane) < manyLanes {
		return
	}
	used := make(map[chan struct{}]bool)
	for name, l := range ls.lane {
		if len(l.slots) == 0 && !l.breaker.isOpen() {
			delete(ls.lane, name)
		} else {
			used[l.host] = true
		}
	}
	for host, slots := range ls.hosts {
		if len(slots) == 0 && !used[slots] {
			delete(ls.hosts, host)
		}
	}
}

// ReportCall tells a lane's breaker how a call went.
func (ls *Lanes) ReportCall(l *Lane, p Pass, found Finding) {
	ls.applyChange(l, l.breaker.addCall(p, found, time.Now()))
}

// ReportSearch tells a lane's breaker whether somebody was found to try it.
func (ls *Lanes) ReportSearch(name string, found bool) {
	if l := ls.find(name); l != nil {
		ls.applyChange(l, l.breaker.addSearch(found, time.Now()))
	}
}

// applyChange lists the lane if its breaker is open, and passes the change on. Changes may
// arrive out of order, so the breaker is asked how it stands now.
func (ls *Lanes) applyChange(l *Lane, c Change) {
	if c == (Change{}) {
		return
	}
	ls.mu.Lock()
	if l.breaker.isOpen() {
		ls.open[l.name] = l
	} else {
		delete(ls.open, l.name)
	}
	ended := ls.ended
	ls.mu.Unlock()
	if !ended {
		ls.changed(l.name, c)
	}
}

// End tells of every lane that is down that nobody watches it any more, and of no change
// after that: calls that nobody waits for may still come back.
func (ls *Lanes) End() {
	ls.mu.Lock()
	open := slices.Sorted(maps.Keys(ls.open))
	clear(ls.open)
	ended := ls.ended
	ls.ended = true
	ls.mu.Unlock()
	if ended {
		return
	}
	for _, name := range open {
		ls.changed(name, Change{Ended: true})
	}
}

func (ls *Lanes) find(name string) *Lane {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.lane[name]
}

// IsDown reports whether a lane's breaker is open.
func (ls *Lanes) IsDown(name string) bool {
	l := ls.find(name)
	return l != nil && l.breaker.isOpen()
}

// IsCrowded reports whether as many calls wait for a slot as there are slots.
func (ls *Lanes) IsCrowded(name string) bool {
	l := ls.find(name)
	return l != nil && l.calls.Load() >= 2*int64(ls.perTarget)
}

// DueForProbe names lanes that are down and may be tried again, those first that may for
// longest, so that each gets its turn.
func (ls *Lanes) DueForProbe(most int) []string {
	type candidate struct {
		name  string
		since time.Time
	}
	var all []candidate
	now := time.Now()
	ls.mu.Lock()
	for name, l := range ls.open {
		if since, due := l.breaker.dueForProbe(now); due {
			all = append(all, candidate{name, since})
		}
	}
	ls.mu.Unlock()
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(a.since.Compare(b.since), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range all[:min(len(all), most)] {
		names = append(names, c.name)
	}
	return names
}
