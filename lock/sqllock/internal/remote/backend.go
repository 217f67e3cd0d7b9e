package remote

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
)

// NewBackend returns what backends on a store have in common, whose errors begin with the label.
func NewBackend(store *Store, label string) Backend {
	return Backend{Backend: keeper.Backend{Store: store, Label: label}, Store: store}
}

// Backend is what backends on databases have in common.
type Backend struct {
	keeper.Backend

	Store *Store
}

// Identity implements [driver.Identifier].
func (b *Backend) Identity(ctx context.Context) (string, error) {
	if err := b.Store.Prepare(ctx); err != nil {
		return "", b.Describe("ask who is behind", b.Store.Layout.Table, err)
	}
	return b.Label + " " + b.Store.About().Store, nil
}

// AcquireAll implements [driver.Bundler].
func (b *Backend) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	first := ""
	if len(reqs) > 0 { // else it is refused
		first = reqs[0].Name
	}
	return Finish(ctx, b.Store, first, func(ctx context.Context) ([]driver.Grant, error) {
		return b.Backend.AcquireAll(ctx, reqs)
	})
}
