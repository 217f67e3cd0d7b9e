package console

import (
	"context"
	"maps"
	"slices"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// What of waits is looked at.
const (
	mostArrows  = 2000
	mostLookups = 50 // of locks that are waited for and not listed
)

// waitGraph says who holds what and waits for what meanwhile, by what holders say of themselves.
type waitGraph struct {
	known  map[string]*lock.Info // the locks that were looked at
	arrows map[string][]arrow    // from a lock to what its holders wait for
	count  int
	full   bool // there were more arrows
}

// arrow is one wait: a holder of From waits for To.
type arrow struct {
	From, To       string
	Process, Owner string
}

func newWaitGraph(found []lock.Info) *waitGraph {
	g := &waitGraph{known: make(map[string]*lock.Info, len(found)), arrows: make(map[string][]arrow)}
	for i := range found {
		g.add(&found[i])
	}
	return g
}

// add puts a lock into the graph that was looked at.
func (g *waitGraph) add(i *lock.Info) {
	g.known[i.Name] = i
	for at := range i.Holders {
		h := &i.Holders[at]
		for _, to := range namesIn(h.Waits) {
			if g.count == mostArrows {
				g.full = true
				return
			}
			g.count++
			g.arrows[i.Name] = append(g.arrows[i.Name], arrow{
				From: i.Name, To: to, Process: processOf(h.Meta), Owner: driver.PublicOwner(h.Owner),
			})
		}
	}
}

// followWaits looks at locks that are waited for and were not listed, and on at what their holders wait for: a circle
// does not keep to a prefix.
func (c *console) followWaits(ctx context.Context, g *waitGraph) {
	for range mostLookups {
		name, some := g.unknown()
		if !some {
			return
		}
		found, err := c.Locks.Inspect(ctx, name)
		if err != nil {
			return // the page shows what is known
		}
		found.Name = name
		g.add(&found)
	}
}

// unknown returns the first lock by name that is waited for and was not looked at.
func (g *waitGraph) unknown() (name string, some bool) {
	for _, to := range g.names() {
		if g.known[to] == nil {
			return to, true
		}
	}
	return "", false
}

// names are the locks that are waited for, or whose holders wait, in order.
func (g *waitGraph) names() []string {
	part := make(map[string]bool)
	for from, arrows := range g.arrows {
		part[from] = true
		for _, a := range arrows {
			part[a.To] = true
		}
	}
	return slices.Sorted(maps.Keys(part))
}

// binding returns what holders of a lock wait for, if who waits for the lock depends on each of them: any holder of
// permits may give some back.
func (g *waitGraph) binding(name string) []arrow {
	if i := g.known[name]; i != nil && i.Kind == driver.Semaphore {
		return nil
	}
	return g.arrows[name]
}
