package coordtest

import (
	"fmt"
	"maps"
	"sync"
)

// Fault is a way in which one call goes wrong.
type Fault string

const (
	// FailBefore means that nothing is done, and an error is returned.
	FailBefore Fault = "fail before"
	// FailAfter means that it is done, and an error is returned.
	FailAfter Fault = "do and fail"
	// DieBefore means that the coordinator is gone before the call.
	DieBefore Fault = "die before"
	// DieAfter means that the coordinator is gone after the call.
	DieAfter Fault = "die after"
	// Stall means that the call is done after the lease is over, and somebody else has taken
	// over meanwhile.
	Stall Fault = "stall"
	// Twice means that a participant gets the call twice at once.
	Twice Fault = "twice"
)

func storeFaults() []Fault { return []Fault{FailBefore, FailAfter, DieBefore, DieAfter, Stall} }

func callFaults() []Fault {
	return []Fault{FailBefore, FailAfter, DieBefore, DieAfter, Stall, Twice}
}

// Point is one call of one kind: "Update 2" is the second Update of a run.
type Point struct {
	Kind string
	N    int
}

func (p Point) String() string { return fmt.Sprintf("%s %d", p.Kind, p.N) }

// injector counts the calls of participants and says which of them goes wrong. It also
// knows which faults have struck, and whether the coordinator is dead.
type injector struct {
	at    map[Point]Fault
	mu    sync.Mutex
	count map[string]int
	hit   map[Point]Fault
	dead  chan struct{}
	once  sync.Once

	onDeath func() // set before the first call
}

func newInjector(at map[Point]Fault) *injector {
	return &injector{at: at, count: make(map[string]int), hit: make(map[Point]Fault), dead: make(chan struct{})}
}

// nextFault counts a call and returns what happens to it.
func (i *injector) nextFault(kind string) Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count[kind]++
	p := Point{kind, i.count[kind]}
	f := i.at[p]
	if f != "" {
		i.hit[p] = f
	}
	return f
}

// addHit notes that a fault has struck the store.
func (i *injector) addHit(p Point, f Fault) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.hit[p] = f
}

// die ends the coordinator: from now on nothing it does has an effect.
func (i *injector) die() {
	i.once.Do(func() {
		i.onDeath()
		close(i.dead)
	})
}

func (i *injector) isDead() bool {
	select {
	case <-i.dead:
		return true
	default:
		return false
	}
}

// counts is how often each kind was called.
func (i *injector) counts() map[string]int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.count)
}

func (i *injector) hits() map[Point]Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.hit)
}
