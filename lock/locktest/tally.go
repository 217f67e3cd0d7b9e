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
	y := &tally{results: make(map[string]string)}
	for _, behaviour := range behaviours() {
		y.order = append(y.order, behaviour.name)
		if reason, exempt := b.exempts(&behaviour); exempt {
			y.results[behaviour.name] = "exempt: " + reason
		}
	}
	return y
}

// addResult notes the result of a behaviour that ran.
func (y *tally) addResult(t *testing.T, name string) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	switch {
	case t.Failed():
		y.results[name] = "FAILED"
	case !t.Skipped():
		y.results[name] = "prevented"
	}
}

// String returns the table.
func (y *tally) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "failure\tresult")
	for _, name := range y.order {
		if result, ran := y.results[name]; ran {
			fmt.Fprintf(w, "%s\t%s\n", name, result)
		}
	}
	w.Flush()
	return text.String()
}
