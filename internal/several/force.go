package several

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// forced is what a node says of a forced release.
type forced struct {
	held   bool
	before []string // who had it, where a node can tell
	err    error
}

func (f forced) whyNot() error { return f.err }

// ForceRelease takes the name away at all nodes; so many must have answered. Those that are slow are waited for: what
// comes late would take it away from the next one. It comes to one node after the other, and who had it may have asked
// for a vote behind it: that is taken away once more.
func (s *Stores) ForceRelease(ctx context.Context, name string, least int) (bool, error) {
	held := false
	var victims map[string]bool
	for range mostForced {
		answers := s.forceAll(ctx, name, least, victims)
		if err := enough(ctx, answers, least, forced.whyNot); err != nil {
			return false, err
		}
		if !slices.ContainsFunc(answers, func(a Answer[forced]) bool { return a.Value.held }) {
			return held, nil // who hears of it gives the other votes back by itself
		}
		held, victims = true, joinVictims(victims, answers)
	}
	return false, errAskedAgain
}

// mostForced is how often a name is taken away from the same holders.
const mostForced = 8

// errAskedAgain says that a forced release may be of no avail.
var errAskedAgain = fmt.Errorf("taken away %d times, and asked for again by the same holder each time", mostForced)

// forceAll takes the name away at all nodes; once victims are known, from those only.
func (s *Stores) forceAll(ctx context.Context, name string, least int, victims map[string]bool) []Answer[forced] {
	return each(ctx, s, least, longestSilence, forced.whyNot, func(ctx context.Context, n *Node) forced {
		forcer, ok := n.Backend.(driver.Forcer)
		if !ok {
			return forced{err: driver.ErrUnsupported}
		}
		before := n.ownersOf(ctx, name)
		if victims != nil && !slices.ContainsFunc(before, func(owner string) bool { return victims[owner] }) {
			return forced{}
		}
		held, err := forcer.ForceRelease(ctx, name)
		return forced{held, before, err}
	})
}

// joinVictims adds those who had the name at a node.
func joinVictims(victims map[string]bool, answers []Answer[forced]) map[string]bool {
	if victims == nil {
		victims = make(map[string]bool)
	}
	for _, a := range answers {
		for _, owner := range a.Value.before {
			victims[owner] = true
		}
	}
	return victims
}

// ownersOf returns who has a name at the node, nobody if it cannot tell.
func (n *Node) ownersOf(ctx context.Context, name string) (owners []string) {
	inspector, ok := n.Backend.(driver.Inspector)
	if !ok {
		return nil
	}
	info, err := inspector.Inspect(ctx, name)
	if err != nil {
		return nil
	}
	for _, h := range info.Holders {
		owners = append(owners, driver.AsPublicOwner(h.Owner))
	}
	return owners
}

// checked is what a node says of its settings.
type checked struct {
	findings []driver.Finding
	err      error
}

// Check examines the settings of all nodes, whether so many answer, and whether each is another store.
func (s *Stores) Check(ctx context.Context, least int) ([]driver.Finding, error) {
	errOf := func(c checked) error { return c.err }
	answers := each(ctx, s, len(s.Nodes), 0, errOf, func(ctx context.Context, n *Node) checked {
		checker, ok := n.Backend.(driver.Checker)
		if !ok {
			return checked{err: driver.ErrUnsupported}
		}
		findings, err := checker.Check(ctx)
		return checked{findings, err}
	})
	slices.SortFunc(answers, func(a, b Answer[checked]) int { return a.Node.index - b.Node.index })
	var found []driver.Finding
	missing := slices.Clone(s.Nodes)
	for _, a := range answers {
		missing = slices.DeleteFunc(missing, func(n *Node) bool { return n == a.Node })
		found = append(found, a.Value.findingsOf(a.Node)...)
	}
	for _, n := range missing {
		found = append(found, (&checked{err: errAway}).findingsOf(n)...)
	}
	if silent := countSilent(found); len(s.Nodes)-silent < least {
		found = append(found, driver.Finding{
			Level: driver.Danger, Means: "no lock is granted",
			What: fmt.Sprintf("%d of %d nodes answer, %d are needed", len(s.Nodes)-silent, len(s.Nodes), least),
		})
	}
	if err := s.Distinct(ctx); errors.Is(err, driver.ErrRefused) {
		found = append(found, driver.Finding{
			Level: driver.Danger, What: err.Error(), Means: "it would count twice: no lock is granted",
		})
	}
	slices.SortStableFunc(found, func(a, b driver.Finding) int { return int(b.Level) - int(a.Level) })
	return found, nil
}

// withoutIt is what it means that a node does not answer.
const withoutIt = "it does not count while it does not answer"

func countSilent(found []driver.Finding) (n int) {
	for _, f := range found {
		if f.Means == withoutIt {
			n++
		}
	}
	return n
}

// findingsOf returns the findings as those of a node.
func (c *checked) findingsOf(n *Node) []driver.Finding {
	switch {
	case errors.Is(c.err, driver.ErrUnsupported):
		return nil
	case c.err != nil:
		return []driver.Finding{{
			Level: driver.Warning, What: fmt.Sprintf("node %d: %s", n.Number(), c.err),
			Means: withoutIt,
		}}
	}
	named := slices.Clone(c.findings)
	for i := range named {
		named[i].What = fmt.Sprintf("node %d: %s", n.Number(), named[i].What)
	}
	return named
}
