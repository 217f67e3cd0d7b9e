package keeper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

const (
	// mostRenewed is how many grants are renewed in one step: others wait for it, and a store that is far away takes
	// some of its round trips for each. What is renewed stays so when there is no time for the rest.
	mostRenewed = 8
	// atOnce is how many requests are made side by side.
	atOnce = 4
)

// errRowTaken says that a name was left out of a step.
var errRowTaken = fmt.Errorf("%w: somebody has its row", driver.ErrUnavailable)

// SideBySide does something n times, some of them at a time.
func SideBySide(n int, do func(i int)) { sideBySide(atOnce, n, do) }

func sideBySide(most, n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, most) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// Renew implements [driver.Backend]. It waits for a row that somebody has when all others are renewed.
func (b *Backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	all := make([]int, len(grants))
	for i := range all {
		all[i] = i
	}
	names := byName(grants, all)
	chains := inFewSteps(names)
	step := Step{Renews: true, Free: len(names) > 1} // one waits at once: it keeps nobody from anything
	SideBySide(len(chains), func(i int) { b.renewChain(ctx, grants, errs, chains[i], step) })
	taken := slices.DeleteFunc(all, func(i int) bool { return !errors.Is(errs[i], errRowTaken) })
	if len(taken) > 0 {
		b.awaitRows(ctx, grants, errs, byName(grants, taken))
	}
	return errs
}

// awaitRows renews the grants of names whose rows others had, one name after the other. They come in any order: who
// keeps a row for long would keep the same ones from it each time.
func (b *Backend) awaitRows(ctx context.Context, grants []driver.Grant, errs []error, names [][]int) {
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	sideBySide(b.Store.Waiters(), len(names), func(i int) {
		b.renewChain(ctx, grants, errs, slices.Collect(slices.Chunk(names[i], mostRenewed)), Step{Renews: true})
	})
}

// renewChain renews some grants in one step after the other, where all those of a name are: the row that one has would
// be taken for others.
func (b *Backend) renewChain(ctx context.Context, grants []driver.Grant, errs []error, chain [][]int, step Step) {
	for _, group := range chain {
		some := make([]driver.Grant, len(group))
		for i, at := range group {
			some[i] = grants[at]
		}
		for i, err := range b.renewSome(ctx, some, step) {
			if at := group[i]; errs[at] == nil || !errors.Is(err, driver.ErrUnavailable) { // else it is as before
				errs[at] = err
			}
		}
	}
}

// byName puts the positions of grants together that have a name in common, in the order in which they come.
func byName(grants []driver.Grant, positions []int) (names [][]int) {
	known := make(map[string]int, len(positions))
	for _, at := range positions {
		n, there := known[grants[at].Name]
		if !there {
			n = len(names)
			known[grants[at].Name], names = n, append(names, nil)
		}
		names[n] = append(names[n], at)
	}
	return names
}

// inFewSteps puts names together that one step renews. Those of a name that takes several steps are a chain.
func inFewSteps(names [][]int) (chains [][][]int) {
	room := 0
	for _, of := range names {
		switch last := len(chains) - 1; {
		case len(of) > mostRenewed:
			chains, room = append(chains, slices.Collect(slices.Chunk(of, mostRenewed))), 0
		case len(of) > room:
			chains, room = append(chains, [][]int{slices.Clone(of)}), mostRenewed-len(of)
		default:
			chains[last][0], room = append(chains[last][0], of...), room-len(of)
		}
	}
	return chains
}

// renewSome renews some grants in one step, of which it fills in the rest.
func (b *Backend) renewSome(ctx context.Context, grants []driver.Grant, step Step) []error {
	errs := make([]error, len(grants))
	names := make([]string, 0, len(grants))
	for i := range grants {
		names = append(names, grants[i].Name)
	}
	step.Names = sortNames(names)
	answers := make([]error, len(grants))
	step.Decide = func(c *ledger.Clock, states []*ledger.State) {
		for i := range grants {
			answers[i] = renewOne(c, states[positionOf(step.Names, grants[i].Name)], &grants[i])
		}
	}
	err := b.write(ctx, &step)
	for i := range grants {
		if err == nil {
			errs[i] = b.Describe("renew", grants[i].Name, answers[i])
		} else {
			errs[i] = b.Describe("renew", grants[i].Name, err)
		}
	}
	return errs
}

func renewOne(c *ledger.Clock, s *ledger.State, g *driver.Grant) error {
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return err
	}
	if s == nil {
		return errRowTaken
	}
	return s.Renew(c, g)
}

// sortNames puts names in order, each once.
func sortNames(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// positionOf is where a name is among those that are in order.
func positionOf(names []string, name string) int {
	at, _ := slices.BinarySearch(names, name)
	return at
}
