package keeper

import (
	"context"
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

// SideBySide does something n times, some of them at a time.
func SideBySide(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, atOnce) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// Renew implements [driver.Backend].
func (b *Backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	SideBySide((len(grants)+mostRenewed-1)/mostRenewed, func(i int) {
		first := i * mostRenewed
		copy(errs[first:], b.renewSome(ctx, grants[first:min(first+mostRenewed, len(grants))]))
	})
	return errs
}

func (b *Backend) renewSome(ctx context.Context, grants []driver.Grant) []error {
	grants = slices.Clone(grants) // its caller may use it again, and leave the step behind
	errs := make([]error, len(grants))
	names := make([]string, 0, len(grants))
	for i := range grants {
		names = append(names, grants[i].Name)
	}
	names = sortNames(names)
	answers := make([]error, len(grants))
	err := b.write(ctx, &Step{Names: names, Decide: func(c *ledger.Clock, states []*ledger.State) {
		for i := range grants {
			answers[i] = renewOne(c, states[positionOf(names, grants[i].Name)], &grants[i])
		}
	}})
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
