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
	SideBySide((len(grants)+mostRenewed-1)/mostRenewed, func(i int) {
		first := i * mostRenewed
		some := grants[first:min(first+mostRenewed, len(grants))]
		copy(errs[first:], b.renewSome(ctx, some, &Step{Renews: true, Free: true}))
	})
	var taken []int
	for i, err := range errs {
		if errors.Is(err, errRowTaken) {
			taken = append(taken, i)
		}
	}
	if len(taken) > 0 {
		b.awaitRows(ctx, grants, errs, taken)
	}
	return errs
}

// awaitRows renews those whose rows others had, one by one. They come in any order: who keeps a row for long would keep
// the same ones from it each time.
func (b *Backend) awaitRows(ctx context.Context, grants []driver.Grant, errs []error, taken []int) {
	rand.Shuffle(len(taken), func(i, j int) { taken[i], taken[j] = taken[j], taken[i] })
	sideBySide(b.Store.Waiters(), len(taken), func(i int) {
		at := taken[i]
		err := b.renewSome(ctx, grants[at:at+1], &Step{Renews: true})[0]
		if !errors.Is(err, driver.ErrUnavailable) { // else it is as before
			errs[at] = err
		}
	})
}

// renewSome renews some grants in one step, of which it fills in the rest.
func (b *Backend) renewSome(ctx context.Context, grants []driver.Grant, step *Step) []error {
	grants = slices.Clone(grants) // its caller may use it again, and leave the step behind
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
	err := b.write(ctx, step)
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
