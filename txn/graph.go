package txn

import (
	"fmt"

	"github.com/bedrock-go/bedrock/input"
)

// Graph is the order of branches, by index.
type Graph struct {
	size   int
	before [][]int // those that go forward first; nil when there is no order
	after  [][]int // those that go forward later
}

// NewGraph orders branches by their After fields. It refuses names that are not
// there and cycles, with a *InvalidError.
func NewGraph(branches []Branch) (*Graph, error) {
	g := &Graph{size: len(branches)}
	edges := 0
	for i := range branches {
		edges += len(branches[i].After)
	}
	if edges == 0 {
		return g, nil
	}
	climbing, err := g.connect(branches, edges)
	if err != nil || climbing {
		return g, err
	}
	if i := g.cycle(); i >= 0 {
		return nil, input.Errorf(fmt.Sprintf("branches[%d].after", i),
			"%q waits for itself in a circle", branches[i].ID)
	}
	return g, nil
}

// Len is the number of branches.
func (g *Graph) Len() int { return g.size }

// Before lists the branches that must have gone forward before branch i.
func (g *Graph) Before(i int) []int {
	if g.before == nil {
		return nil
	}
	return g.before[i]
}

// After lists the branches that wait for branch i.
func (g *Graph) After(i int) []int {
	if g.after == nil {
		return nil
	}
	return g.after[i]
}

// Ancestors tells for every branch whether it always goes forward before branch i.
func (g *Graph) Ancestors(i int) []bool {
	seen := make([]bool, g.size)
	stack := []int{i}
	for len(stack) > 0 {
		k := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, b := range g.Before(k) {
			if !seen[b] {
				seen[b] = true
				stack = append(stack, b)
			}
		}
	}
	return seen
}

// connect fills both directions. All lists share one array, because graphs are
// made for every transaction. If no branch waits for a later one (climbing), there
// can be no circle.
func (g *Graph) connect(branches []Branch, edges int) (climbing bool, err error) {
	lists, ends := make([][]int, 2*g.size), make([]int, 2*edges+g.size)
	g.before, g.after = lists[:g.size], lists[g.size:]
	before, after, count := ends[:0:edges], ends[edges:2*edges], ends[2*edges:]
	find := finder{branches: branches}
	climbing = true
	for i := range branches {
		from := len(before)
		for _, name := range branches[i].After {
			j, ok := find.index(name, i)
			if !ok {
				return false, input.Errorf(fmt.Sprintf("branches[%d].after", i),
					"%q waits for %q, which is not there", branches[i].ID, name)
			}
			before = append(before, j)
			count[j]++
			climbing = climbing && j < i
		}
		g.before[i] = before[from:len(before):len(before)]
	}
	g.fillAfter(after, count)
	return climbing, nil
}

// fillAfter makes the lists of the other direction; count[j] is how many wait for j.
func (g *Graph) fillAfter(room, count []int) {
	for j, n := range count {
		g.after[j], room = room[:0:n], room[n:]
	}
	for i, list := range g.before {
		for _, j := range list {
			g.after[j] = append(g.after[j], i)
		}
	}
}

// finder finds branches by ID. Most wait for the one before them, and in short
// definitions looking at all of them is faster than a map.
type finder struct {
	branches []Branch
	byID     map[string]int
}

func (f *finder) index(id string, near int) (int, bool) {
	const few = 16
	switch {
	case near > 0 && f.branches[near-1].ID == id:
		return near - 1, true
	case len(f.branches) <= few:
		d := Definition{Branches: f.branches}
		return d.Branch(id)
	case f.byID == nil:
		f.byID = make(map[string]int, len(f.branches))
		for i := range f.branches {
			f.byID[f.branches[i].ID] = i
		}
	}
	i, ok := f.byID[id]
	return i, ok
}

// cycle finds a branch that can never start, or -1. It takes away, again and
// again, what waits for nothing.
func (g *Graph) cycle() int {
	waits := make([]int, g.size)
	var free []int
	for i := range waits {
		if waits[i] = len(g.before[i]); waits[i] == 0 {
			free = append(free, i)
		}
	}
	for len(free) > 0 {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		waits[i] = -1
		for _, j := range g.after[i] {
			if waits[j]--; waits[j] == 0 {
				free = append(free, j)
			}
		}
	}
	for i, n := range waits {
		if n >= 0 {
			return i
		}
	}
	return -1
}
