package locktest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// tally is the table of what became of every behaviour.
type tally struct {
	mu      sync.Mutex
	order   []string
	results map[string]string
}

func newTally(b Backend) *tally {
	t := &tally{results: make(map[string]string)}
	for _, behaviour := range behaviours() {
		t.order = append(t.order, behaviour.name)
		if reason, exempt := b.exempts(&behaviour); exempt {
			t.results[behaviour.name] = "exempt: " + reason
		}
	}
	return t
}

// record notes the result of a behaviour that ran.
func (t *tally) record(name string, of *testing.T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case of.Failed():
		t.results[name] = "FAILED"
	case !of.Skipped():
		t.results[name] = "prevented"
	}
}

// String returns the table.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "failure\tresult")
	for _, name := range t.order {
		if result, ran := t.results[name]; ran {
			fmt.Fprintf(w, "%s\t%s\n", name, result)
		}
	}
	w.Flush()
	return text.String()
}
