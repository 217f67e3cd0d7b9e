package remote_test

import (
	"context"
	"testing"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// TestTransactionGoesOnInThePool leaves a transaction for which there is no time any more. Whoever has a connection of
// the pool next is not in it.
func TestTransactionGoesOnInThePool(t *testing.T) {
	for name, site := range map[string]*sqltest.Site{"MySQL": sqltest.MariaDB(t), "Postgres": sqltest.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			db := site.Connect(t, site.DSN(sqltest.Database))
			db.SetMaxOpenConns(1)
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE written (n INT)"); err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			tx, err := remote.Begin(ctx, db, "START TRANSACTION")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO written (n) VALUES (1)"); err != nil {
				t.Fatal(err)
			}
			leave()
			tx.RollBack(ctx)
			n := -1
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM written").Scan(&n); err != nil || n != 0 {
				t.Errorf("%d rows: %v", n, err)
			}
		})
	}
}
