package txn

import "fmt"

// Graph is the order of branches, by index.
type Graph struct {
	before [][]int // those that go forward first
	after  [][]int // those that go forward later
}

// NewGraph orders branches by their After fields. It refuses names that are not
// there and cycles, with a *FieldError.
func NewGraph(branches []Branch) (*Graph, error) {
	g := &Graph{before: make([][]int, len(branches)), after: make([][]int, len(branches))}
	if err := g.connect(branches); err != nil {
		return nil, err
	}
	if i := g.cycle(); i >= 0 {
		return nil, &FieldError{
			Field:   fmt.Sprintf("branches[%d].after", i),
			Problem: fmt.Sprintf("branch %q waits for itself in a circle", branches[i].ID),
		}
	}
	return g, nil
}

// Len is the number of branches.
func (g *Graph) Len() int { return len(g.before) }

// Before lists the branches that must have gone forward before branch i.
func (g *Graph) Before(i int) []int { return g.before[i] }

// After lists the branches that wait for branch i.
func (g *Graph) After(i int) []int { return g.after[i] }

// Precedes tells whether branch i always goes forward before branch j.
func (g *Graph) Precedes(i, j int) bool {
	seen := make([]bool, g.Len())
	stack := []int{j}
	for len(stack) > 0 {
		k := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, b := range g.before[k] {
			if b == i {
				return true
			}
			if !seen[b] {
				seen[b] = true
				stack = append(stack, b)
			}
		}
	}
	return false
}

func (g *Graph) connect(branches []Branch) error {
	index := make(map[string]int, len(branches))
	for i := range branches {
		index[branches[i].ID] = i
	}
	for i := range branches {
		for _, name := range branches[i].After {
			j, ok := index[name]
			if !ok {
				return &FieldError{
					Field:   fmt.Sprintf("branches[%d].after", i),
					Problem: fmt.Sprintf("branch %q waits for %q, which is not there", branches[i].ID, name),
				}
			}
			g.before[i] = append(g.before[i], j)
			g.after[j] = append(g.after[j], i)
		}
	}
	return nil
}

// cycle finds a branch that can never start, or -1. It takes away, again and
// again, what waits for nothing.
func (g *Graph) cycle() int {
	waits := make([]int, g.Len())
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
