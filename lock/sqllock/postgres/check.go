package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

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
	err = b.hub.waitListening(ctx)
	if errors.Is(err, driver.ErrUnsupported) || errors.Is(err, remote.ErrNoSpare) {
		found = append(found, driver.Finding{
			Level: driver.Warning, What: fmt.Sprint("nothing is told of releases: ", err),
			Means: "who waits looks again and again",
		})
	}
	if errors.Is(err, errPooler) && b.prepares(ctx) {
		found = append(found, driver.Finding{
			Level: driver.Danger, What: "statements are prepared, which not every pooler keeps",
			Means: "requests may fail with 42P05 or 26000; default_query_exec_mode=exec in the URL prepares none",
		})
	}
	return profiles.WorstFirst(found), nil
}

// prepares reports whether connections of pgx prepare their statements on the server, by names of their own.
func (b *backend) prepares(ctx context.Context) bool {
	conn, err := b.Store.DB.Conn(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	var mode pgx.QueryExecMode
	err = conn.Raw(func(c any) error {
		own, ok := c.(*stdlib.Conn)
		if !ok {
			return errors.ErrUnsupported
		}
		mode = own.Conn().Config().DefaultQueryExecMode
		return nil
	})
	return err == nil && mode == pgx.QueryExecModeCacheStatement
}

// checkServer says what is wrong with the server for locks in rows.
func checkServer(ctx context.Context, store *remote.Store) ([]driver.Finding, error) {
	var commit, fsync, reads string
	var replica bool
	err := store.Unwritten(store.DB.QueryRowContext(ctx,
		"SELECT current_setting('synchronous_commit'), current_setting('fsync'), pg_is_in_recovery(), "+
			"current_setting('default_transaction_read_only')",
	).Scan(&commit, &fsync, &replica, &reads))
	if err != nil {
		return nil, err
	}
	found := []driver.Finding{{
		Level: driver.OK, What: "the locks are in table " + store.Layout.Table,
		Means: "all who use this database share them, and leases go by its clock",
	}}
	add := func(bad bool, level driver.Level, what, means string) {
		if bad {
			found = append(found, driver.Finding{Level: level, What: what, Means: means})
		}
	}
	add(fsync != "on", driver.Danger, "fsync is "+fsync,
		"after a loss of power a lock may be had twice, or none at all")
	add(commit == "off", driver.Danger, "synchronous_commit is off",
		"after a crash of the server a lock may be had twice, and tokens be given out once more")
	add(commit == "local", driver.Notice, "synchronous_commit is local",
		"a standby that takes over may not know the newest grants")
	add(reads == "on" && !replica, driver.Danger, "default_transaction_read_only is on",
		"this account takes no locks: each request would be a write")
	add(replica, driver.Danger, "the server is a standby", "it takes no writes, so nobody gets a lock")
	return found, nil
}
