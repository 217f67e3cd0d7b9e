package keeper

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// pageSize is how many names are looked at in one step.
const pageSize = 64

// Inspect implements [driver.Inspector].
func (b *Backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	infos, err := b.inspectAll(ctx, []string{name})
	if err != nil {
		return driver.Info{}, b.Describe("inspect", name, err)
	}
	return infos[0], nil
}

func (b *Backend) inspectAll(ctx context.Context, names []string) ([]driver.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, Unavailable(err)
	}
	infos := make([]driver.Info, len(names))
	err := b.Store.Read(ctx, &Step{Names: names, Decide: func(c *ledger.Clock, states []*ledger.State) {
		for i, s := range states {
			infos[i] = s.Describe(c)
		}
	}})
	if err != nil {
		return nil, err
	}
	return infos, nil
}

// List implements [driver.Inspector].
func (b *Backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	var found []driver.Info
	for after := ""; len(found) < limit; {
		names, err := b.Store.Held(ctx, prefix, after, pageSize)
		if err != nil {
			return nil, b.Describe("list", prefix, err)
		}
		if len(names) == 0 {
			break
		}
		infos, err := b.inspectAll(ctx, names)
		if err != nil {
			return nil, b.Describe("list", prefix, err)
		}
		for i := range infos {
			if len(infos[i].Holders) > 0 && len(found) < limit {
				found = append(found, infos[i])
			}
		}
		after = names[len(names)-1]
	}
	return found, nil
}
