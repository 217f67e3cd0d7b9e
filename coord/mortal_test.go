package coord_test

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// mortal is a store as a coordinator sees it whose machine dies: from one moment
// on nothing it asks for happens.
type mortal struct {
	driver.Store
	dead atomic.Bool
}

var errDead = errors.New("this coordinator is dead")

func (m *mortal) Create(ctx context.Context, rec *driver.Record) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Create(ctx, rec)
}

func (m *mortal) Load(ctx context.Context, id string) (*driver.Record, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	return m.Store.Load(ctx, id)
}

func (m *mortal) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Update(ctx, was, rec)
}

func (m *mortal) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	if m.dead.Load() {
		return driver.Claimed{}, errDead
	}
	return m.Store.Claim(ctx, c)
}
