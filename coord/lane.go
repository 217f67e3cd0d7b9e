package coord

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// lanes keeps calls to one target or host from crowding out the others.
type lanes struct {
	perTarget, perHost int
	changed            func(lane string, t turn)
	draw               chance.Draw

	mu    sync.Mutex
	lane  map[string]*lane
	hosts map[string]chan struct{}
}

// lane is the way to one target: a bounded number of calls, and a breaker.
type lane struct {
	name    string
	slots   chan struct{}
	host    chan struct{} // nil for functions
	breaker breaker
}

// manyLanes is when lanes that are not in use are forgotten. Targets whose paths
// contain IDs would otherwise pile up.
const manyLanes = 4096

func newLanes(perTarget, perHost int, draw chance.Draw, changed func(string, turn)) *lanes {
	return &lanes{
		perTarget: perTarget, perHost: perHost, draw: draw, changed: changed,
		lane: make(map[string]*lane), hosts: make(map[string]chan struct{}),
	}
}

// laneOf names the lane and the host of a target: URLs without their query,
// functions by their names.
func laneOf(t txn.Target) (name, host string) {
	scheme, rest := plan.Scheme(t)
	if scheme == "" || scheme == "async" {
		return rest, ""
	}
	u, err := url.Parse(rest)
	if err != nil {
		return rest, ""
	}
	return scheme + "://" + u.Host + u.Path, u.Host
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

// enter waits for a slot on the lane and its host. Whoever was told to stop gets none,
// though one may be free.
func (l *lane) enter(ctx context.Context) error {
	if err := take(ctx, l.slots); err != nil {
		return err
	}
	if err := take(ctx, l.host); err != nil {
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

func take(ctx context.Context, slots chan struct{}) error {
	if slots == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// report tells a lane's breaker how a call went.
func (ls *lanes) report(l *lane, v verdict) {
	if t := l.breaker.report(v, time.Now()); t != (turn{}) {
		ls.changed(l.name, t)
	}
}

// isDown tells whether a lane's breaker is open.
func (ls *lanes) isDown(name string) bool {
	ls.mu.Lock()
	l, ok := ls.lane[name]
	ls.mu.Unlock()
	return ok && l.breaker.isOpen()
}

// probes lists the lanes that are down and may be tried again, in an order that is
// the same whenever a run is repeated.
func (ls *lanes) probes() []string {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	var names []string
	for name, l := range ls.lane {
		if l.breaker.isOpen() && l.breaker.ripe(time.Now()) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
