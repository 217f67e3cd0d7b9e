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
	held bool
	err  error
}

// ForceRelease takes the name away at all nodes; so many must have answered. Those that are slow are waited for: what
// comes late would take it away from the next one.
func (s *Stores) ForceRelease(ctx context.Context, name string, least int) (bool, error) {
	errOf := func(f forced) error { return f.err }
	answers := each(ctx, s, least, longestSilence, errOf, func(ctx context.Context, n *Node) forced {
		forcer, ok := n.Backend.(driver.Forcer)
		if !ok {
			return forced{err: driver.ErrUnsupported}
		}
		held, err := forcer.ForceRelease(ctx, name)
		return forced{held, err}
	})
	if err := enough(ctx, answers, least, errOf); err != nil {
		return false, err
	}
	held := 0
	for _, a := range answers {
		if a.Value.held {
			held++
		}
	}
	return held > 0, nil // who hears of it gives the other votes back by itself
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
