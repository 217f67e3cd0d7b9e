package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// migrateLimit is the longest a migration takes: it may have to rewrite tables.
const migrateLimit = time.Hour

func newMigrate(sys *system) *cobra.Command {
	var url string
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the schema of a store up to date",
		Long: `Bring the schema of a store of transactions up to date, and make the tables of the locks
that servers keep with it. Servers do it by themselves, unless they are told --no-migrate;
several at once are safe. A file of SQLite that is not there is made, in a folder that is;
a note says so.`,
		Example: "  bedrock migrate --store postgres://bedrock@db/bedrock",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			location, err := storeurl.Parse(cmp.Or(url, sys.getenv("BEDROCK_STORE"), defaultStore))
			if err != nil {
				return err
			}
			return sys.migrate(c.Context(), location)
		},
	}
	c.Flags().StringVar(&url, "store", "", "URL of the store (default $BEDROCK_STORE, or "+defaultStore+")")
	return c
}

// migrate opens the store, which brings its schema up to date, and asks which
// version that is.
func (s *system) migrate(ctx context.Context, location *storeurl.Location) error {
	ctx, cancel := context.WithTimeout(ctx, migrateLimit)
	defer cancel()
	if err := location.CheckFolder(); err != nil {
		return &exitError{exitUsage, err}
	}
	made := location.Missing()
	store, err := location.Open(ctx, &storeurl.Options{AllowVolatile: true})
	if err != nil {
		return &exitError{exitUnavailable, err}
	}
	defer store.Close()
	if made {
		fmt.Fprintf(s.stderr, "bedrock: note: %s was not there and has been made\n", location)
	}
	migrator, ok := store.(driver.Migrator)
	if !ok {
		_, err := fmt.Fprintf(s.stdout, "%s has no schema\n", location)
		return err
	}
	_, version, err := migrator.Migrate(ctx)
	if err != nil {
		return &exitError{exitUnavailable, err}
	}
	if _, err = fmt.Fprintf(s.stdout, "%s has version %d of the schema\n", location, version); err != nil {
		return err
	}
	return s.makeLockTables(ctx, location)
}

// makeLockTables makes the tables of the locks that servers keep with a store.
func (s *system) makeLockTables(ctx context.Context, location *storeurl.Location) error {
	locks, err := lockurl.New(location.Locks())
	if err != nil {
		return &exitError{exitUsage, err}
	}
	needed, err := locks.MakeTables(ctx)
	if err != nil {
		return &exitError{exitUnavailable, fmt.Errorf("make the tables of locks: %w", err)}
	}
	if !needed {
		return nil
	}
	_, err = fmt.Fprintf(s.stdout, "%s has the tables of locks\n", locks)
	return err
}
