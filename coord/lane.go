package coord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// lanes keeps calls to one target or host from crowding out the others.
type lanes struct {
	perTarget, perHost int
	changed            func(lane string, t turn)
	draw               chance.Draw

	mu    sync.Mutex
	lane  map[string]*lane
	open  map[string]*lane // those whose breakers are open
	hosts map[string]chan struct{}
}

// lane is the way to one target: a bounded number of calls, and a breaker.
type lane struct {
	name    string
	slots   chan struct{}
	host    chan struct{} // nil for functions
	waiting atomic.Int64  // calls in the queue
	breaker breaker
}

// manyLanes is when lanes that are not in use are forgotten. Targets whose paths
// contain IDs would otherwise pile up.
const manyLanes = 4096

func newLanes(perTarget, perHost int, draw chance.Draw, changed func(string, turn)) *lanes {
	return &lanes{
		perTarget: perTarget, perHost: perHost, draw: draw, changed: changed,
		lane: make(map[string]*lane), open: make(map[string]*lane), hosts: make(map[string]chan struct{}),
	}
}

// laneOf names the lane and the host of a target: URLs without their query,
// functions by their names. What is assured has a lane of its own: it is a write to
// the store, and says nothing about the target.
func laneOf(t txn.Target) (name, host string) {
	name, host = wayTo(t)
	return fitting(name), host
}

// fitting is the name of a lane as every store keeps it with those who wait: a target
// may be longer, and its host no text once it is decoded. Names that are cut stay
// different.
func fitting(name string) string {
	if len(name) <= driver.MaxWaits && utf8.ValidString(name) && strings.IndexByte(name, 0) < 0 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	const kept = driver.MaxWaits / 2
	return printable(name, kept) + "#" + hex.EncodeToString(sum[:16])
}

func wayTo(t txn.Target) (name, host string) {
	scheme, rest := plan.Scheme(t)
	switch scheme {
	case "":
		return rest, ""
	case "async":
		name, _ = wayTo(txn.Target(rest))
		return scheme + ":" + name, ""
	}
	u, err := url.Parse(rest)
	if err != nil {
		return rest, ""
	}
	return scheme + "://" + u.Host + u.EscapedPath(), u.Host
}

// get finds or makes a lane.
func (ls *lanes) get(t txn.Target) *lane {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l, ok := ls.lane[string(t)]; ok {
		return l
	}
	name, host := laneOf(t)
	l, ok := ls.lane[name]
	if !ok {
		ls.forget()
		l = &lane{name: name, slots: make(chan struct{}, ls.perTarget), host: ls.hostSlots(host)}
		l.breaker.draw = ls.draw
		ls.lane[name] = l
	}
	return l
}

func (ls *lanes) hostSlots(host string) chan struct{} {
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

// forget drops lanes, and then hosts, that nobody uses. A call that still holds a
// forgotten lane gives its slots back to it and to nobody else.
func (ls *lanes) forget() {
	if len(ls.lane) < manyLanes {
		return
	}
	for name, l := range ls.lane {
		if len(l.slots) == 0 && !l.breaker.isOpen() {
			delete(ls.lane, name)
		}
	}
	for host, slots := range ls.hosts {
		if len(slots) == 0 {
			delete(ls.hosts, host)
		}
	}
}

// errDown says that the breaker opened while a call waited for its slot.
var errDown = errors.New("target is down")

// enter waits for a slot on the lane and its host. Whoever was told to stop gets none,
// though one may be free.
func (l *lane) enter(ctx context.Context) error {
	if err := l.take(ctx, l.slots); err != nil {
		return err
	}
	if err := l.take(ctx, l.host); err != nil {
		<-l.slots
		return err
	}
	return nil
}

// leave gives the slots back.
func (l *lane) leave() {
	<-l.slots
	if l.host != nil {
		<-l.host
	}
}

func (l *lane) take(ctx context.Context, slots chan struct{}) error {
	if slots == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case slots <- struct{}{}:
		return nil
	default:
		return l.queue(ctx, slots)
	}
}

// queue waits for a slot, for as long as the target is taken for up.
func (l *lane) queue(ctx context.Context, slots chan struct{}) error {
	open, opens := l.breaker.opening()
	if open {
		return errDown
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	select {
	case slots <- struct{}{}:
		return nil
	case <-opens:
		return errDown
	case <-ctx.Done():
		return ctx.Err()
	}
}

// report tells a lane's breaker how a call went.
func (ls *lanes) report(l *lane, p pass, v verdict) {
	ls.turned(l, l.breaker.report(p, v, time.Now()))
}

// looked tells a lane's breaker whether somebody was found to try it.
func (ls *lanes) looked(name string, found bool) {
	if l := ls.find(name); l != nil {
		ls.turned(l, l.breaker.looked(found, time.Now()))
	}
}

// turned follows a breaker. Turns may be told out of order, so it is the breaker that
// is asked how it stands.
func (ls *lanes) turned(l *lane, t turn) {
	if t == (turn{}) {
		return
	}
	ls.mu.Lock()
	if l.breaker.isOpen() {
		ls.open[l.name] = l
	} else {
		delete(ls.open, l.name)
	}
	ls.mu.Unlock()
	ls.changed(l.name, t)
}

func (ls *lanes) find(name string) *lane {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.lane[name]
}

// isDown tells whether a lane's breaker is open.
func (ls *lanes) isDown(name string) bool {
	l := ls.find(name)
	return l != nil && l.breaker.isOpen()
}

// crowded tells whether as many calls wait for a slot as there are slots.
func (ls *lanes) crowded(name string) bool {
	l := ls.find(name)
	return l != nil && l.waiting.Load() >= int64(ls.perTarget)
}

// ripe names lanes that are down and may be tried again: those first that have been
// for longest, so that all get their turn.
func (ls *lanes) ripe(most int) []string {
	type candidate struct {
		name  string
		since time.Time
	}
	var all []candidate
	now := time.Now()
	ls.mu.Lock()
	for name, l := range ls.open {
		if since, ripe := l.breaker.ripe(now); ripe {
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
