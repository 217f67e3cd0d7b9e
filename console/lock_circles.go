package console

import (
	"context"
	"slices"

	"github.com/bedrock-go/bedrock/lock"
)

// circleStep is one part of a circle: a holder of From waits for To, whose holder is the next step's.
type circleStep = arrow

// circles returns one circle for each group of locks whose holders wait for one another.
func (g *waitGraph) circles() (all [][]circleStep) {
	for _, group := range g.groups() {
		if g.isCircle(group) {
			all = append(all, g.circleFrom(group[0]))
		}
	}
	return all
}

// inCircles numbers the locks that are part of circles: those of one group have one number.
func (g *waitGraph) inCircles() map[string]int {
	in := make(map[string]int)
	for n, group := range g.groups() {
		for _, name := range group {
			if g.isCircle(group) {
				in[name] = n + 1
			}
		}
	}
	return in
}

// isCircle reports whether holders of a group wait for one another, or one for itself.
func (g *waitGraph) isCircle(group []string) bool {
	toItself := func(a arrow) bool { return a.To == a.From }
	return len(group) > 1 || slices.ContainsFunc(g.binding(group[0]), toItself)
}

// circleFrom returns the shortest way from a lock back to itself, nil if there is none.
func (g *waitGraph) circleFrom(name string) []circleStep {
	came := g.reachedFrom(name)
	last, back := came[name]
	if !back {
		return nil
	}
	circle := []circleStep{last}
	for circle[len(circle)-1].From != name {
		circle = append(circle, came[circle[len(circle)-1].From])
	}
	slices.Reverse(circle)
	return circle
}

// reachedFrom returns the locks that holders of one wait for, and their holders in turn, each with the last step to it
// on a shortest way.
func (g *waitGraph) reachedFrom(name string) map[string]circleStep {
	came := make(map[string]circleStep)
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		for _, a := range g.binding(queue[0]) {
			if _, seen := came[a.To]; !seen {
				came[a.To] = a
				queue = append(queue, a.To)
			}
		}
	}
	return came
}

// grouping finds the groups by Tarjan's algorithm: holders can write any waits into a store, so the time that it takes
// must not be more than in proportion to them.
type grouping struct {
	*waitGraph

	number, lowest map[string]int
	stack          []string
	open           map[string]bool // on the stack
	found          [][]string
}

// groups returns the locks of which each can be reached from all others of its group, in the order of their names.
func (g *waitGraph) groups() [][]string {
	s := &grouping{waitGraph: g, number: map[string]int{}, lowest: map[string]int{}, open: map[string]bool{}}
	for _, name := range g.names() {
		if s.number[name] == 0 {
			s.visitLock(name)
		}
	}
	slices.SortFunc(s.found, slices.Compare)
	return s.found
}

func (s *grouping) visitLock(name string) {
	s.number[name] = len(s.number) + 1
	s.lowest[name] = s.number[name]
	s.stack, s.open[name] = append(s.stack, name), true
	for _, a := range s.binding(name) {
		if s.number[a.To] == 0 {
			s.visitLock(a.To)
			s.lowest[name] = min(s.lowest[name], s.lowest[a.To])
		} else if s.open[a.To] {
			s.lowest[name] = min(s.lowest[name], s.number[a.To])
		}
	}
	if s.lowest[name] < s.number[name] {
		return
	}
	from := slices.Index(s.stack, name)
	group := slices.Sorted(slices.Values(s.stack[from:]))
	s.stack = s.stack[:from]
	for _, member := range group {
		s.open[member] = false
	}
	s.found = append(s.found, group)
}

// circleThrough returns a circle that a lock is part of, nil if there is none.
func (c *console) circleThrough(ctx context.Context, i *lock.Info) []circleStep {
	g := newWaitGraph([]lock.Info{*i})
	c.followWaits(ctx, g)
	return g.circleFrom(i.Name)
}
