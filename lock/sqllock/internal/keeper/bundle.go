package keeper

import (
	"context"
	"slices"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// Together implements [driver.Bundler]: the store is one database.
func (b *Backend) Together(names []string) bool { return len(names) <= driver.MaxBundle }

// AcquireAll implements [driver.Bundler].
func (b *Backend) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	if err := driver.Refused(driver.CheckBundle(reqs)); err != nil {
		return nil, b.Describe("acquire", "several", err)
	}
	reqs = slices.Clone(reqs) // its caller may use it again, and leave the step behind
	names := make([]string, len(reqs))
	for i := range reqs {
		names[i] = reqs[i].Name
	}
	names = sortNames(names)
	var grants []driver.Grant
	var refusal error
	err := b.write(ctx, &Step{Names: names, Decide: func(c *ledger.Clock, states []*ledger.State) {
		inOrder := make([]*ledger.State, len(reqs))
		for i := range reqs {
			inOrder[i] = states[positionOf(names, reqs[i].Name)]
		}
		grants, refusal = ledger.AcquireAll(c, inOrder, reqs, b.Store.Client())
	}})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return nil, b.Describe("acquire with others", reqs[0].Name, err)
	}
	return grants, nil
}
