package shedtable

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// Inspect implements [driver.Inspector].
func (b *Backend) Inspect(ctx context.Context, name string) (info driver.Info, err error) {
	info = driver.Info{Name: name}
	err = b.run(ctx, name, func() error {
		r, found, err := b.queryRow(ctx, find, name)
		if err == nil && found && r.name == name {
			info = r.describe()
		}
		return err
	})
	return info, b.describe("inspect", name, err)
}

// describe says what a row means.
func (r *row) describe() driver.Info {
	info := driver.Info{Name: r.name, Token: uint64(max(r.since, 0)) + block - 1}
	if r.left > 0 {
		info.Holders = []driver.Holder{{
			Owner: r.shownOwner(), Mode: driver.Exclusive, Since: time.UnixMicro(r.since),
			TTL: fromMicros(r.left),
		}}
	}
	return info
}

// List implements [driver.Inspector].
func (b *Backend) List(ctx context.Context, prefix string, limit int) (infos []driver.Info, err error) {
	err = b.run(ctx, "", func() error {
		infos = nil
		return b.runStatement(ctx, func(q rows.Querier) error {
			return b.queryEach(ctx, q, list, func(r *row) { infos = append(infos, r.describe()) }, prefix, limit)
		})
	})
	return infos, b.describe("list", prefix, err)
}

// ForceRelease implements [driver.Forcer].
func (b *Backend) ForceRelease(ctx context.Context, name string) (was bool, err error) {
	err = b.store.InRoom(ctx, name, func(ctx context.Context) error {
		return b.run(ctx, name, func() (err error) {
			was, err = b.change(ctx, force, name)
			return err
		})
	})
	return was, b.describe("force release of", name, err)
}
