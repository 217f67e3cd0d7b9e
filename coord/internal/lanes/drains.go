package lanes

import (
	"slices"
	"sync"
)

// Drains lists targets that have recovered, and for which transactions wait in the
// store. They take turns, so that a long backlog of one holds up no other.
type Drains struct {
	mu    sync.Mutex
	names []string
	some  chan struct{}
}

// NewDrains returns an empty list.
func NewDrains() *Drains { return &Drains{some: make(chan struct{}, 1)} }

// Add puts a target at the end, unless it is listed.
func (d *Drains) Add(name string) {
	d.mu.Lock()
	if !slices.Contains(d.names, name) {
		d.names = append(d.names, name)
	}
	d.mu.Unlock()
	d.wakeOne()
}

func (d *Drains) wakeOne() {
	select {
	case d.some <- struct{}{}:
	default:
	}
}

// Some receives when there may be something to take.
func (d *Drains) Some() <-chan struct{} { return d.some }

// Take returns whose turn it is, and wakes somebody for the next.
func (d *Drains) Take() (name string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.names) == 0 {
		return "", false
	}
	name = d.names[0]
	d.names = slices.Delete(d.names, 0, 1)
	if len(d.names) > 0 {
		d.wakeOne()
	}
	return name, true
}
