package session

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// Inspect implements [driver.Inspector].
func (b *Backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	infos, err := b.readInfos(ctx, "name = ?", name, 1)
	if err != nil || len(infos) == 0 {
		return driver.Info{Name: name}, b.describe("inspect", name, err)
	}
	return infos[0], nil
}

// List implements [driver.Inspector].
func (b *Backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	infos, err := b.readInfos(ctx, b.texts.beginsWith, prefix, prefix, limit)
	return infos, b.describe("list", prefix, err)
}

// readInfos reads rows, over any connection, and whose session has the locks. Where there is no table nobody has
// anything.
func (b *Backend) readInfos(ctx context.Context, which string, args ...any) (infos []driver.Info, err error) {
	query := b.store.Layout.Kind.Place(fmt.Sprintf(b.texts.look, which))
	err = b.store.Reading(ctx, func(q rows.Querier) error {
		found, err := q.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			info, err := scanInfo(found)
			if err != nil {
				return err
			}
			infos = append(infos, info)
		}
		return found.Err()
	})
	if b.store.Dialect.IsMissing(err) {
		return nil, nil
	}
	return infos, err
}

func scanInfo(found *sql.Rows) (info driver.Info, err error) {
	var owner, meta string
	var since int64
	var held bool
	err = found.Scan(&info.Name, &info.Token, &owner, &meta, &since, &held)
	if err == nil && held {
		info.Holders = []driver.Holder{{
			Owner: owner, Mode: driver.Exclusive, Since: time.UnixMicro(since), TTL: -1, Meta: meta,
		}}
	}
	return info, err
}
