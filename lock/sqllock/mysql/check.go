package mysql

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/profiles"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
)

// Check implements [driver.Checker].
func (b *backend) Check(ctx context.Context) (found []driver.Finding, err error) {
	err = b.Store.Run(ctx, func() (err error) {
		if found, err = checkServer(ctx, b.Store); err == nil {
			found, err = b.Store.CheckRights(ctx, found, b.Store.Layout.Rights())
		}
		return err
	})
	if found, err = b.Store.OrLack(found, err); err != nil {
		return nil, b.Describe("check", b.Store.Layout.Table, err)
	}
	return profiles.WorstFirst(found), nil
}

// checkServer says what is wrong with the server for locks in rows.
func checkServer(ctx context.Context, store *remote.Store) ([]driver.Finding, error) {
	var flush, autocommit int
	var readOnly bool
	err := store.Unwritten(store.DB.QueryRowContext(ctx,
		"SELECT @@innodb_flush_log_at_trx_commit, @@autocommit, @@read_only",
	).Scan(&flush, &autocommit, &readOnly))
	if err != nil {
		return nil, err
	}
	found := []driver.Finding{{
		Level: driver.OK, What: "the locks are in table " + store.Layout.Table,
		Means: "all who use this database share them, and leases go by its clock; who waits looks again and again",
	}}
	add := func(bad bool, level driver.Level, what, means string) {
		if bad {
			found = append(found, driver.Finding{Level: level, What: what, Means: means})
		}
	}
	add(flush != 1, driver.Danger, fmt.Sprintf("innodb_flush_log_at_trx_commit is %d", flush),
		"after a crash of the machine a lock may be had twice, and tokens be given out once more")
	add(readOnly, driver.Danger, "the server is read_only", "it takes no writes, so nobody gets a lock")
	add(autocommit == 0, driver.Notice, "autocommit is off", "each request takes some round trips instead of one")
	return found, nil
}
