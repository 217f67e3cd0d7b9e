package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/bedrock-go/bedrock/txn/sqlstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/internal/sqltest"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

func TestDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bedrock.db")
	sqltest.Subject{
		Open: func(ctx context.Context, opts *sqlstore.Options) (*sqlstore.Store, error) {
			return sqlite.Open(ctx, path, &sqlite.Options{Table: opts.Table, NoMigrate: opts.NoMigrate, Shared: true})
		},
		User: func(t testing.TB) *sql.DB {
			t.Helper()
			db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_txlock=immediate")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return db
		},
	}.Run(t)
}
