package postgres

import (
	"testing"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// TestRolledBackIsCommitted commits after a statement that has failed, of which nobody took notice.
func TestRolledBackIsCommitted(t *testing.T) {
	site := sqltest.Postgres(t)
	tx, err := remote.Begin(t.Context(), site.Connect(t, site.DSN(sqltest.Database)), "BEGIN")
	if err != nil {
		t.Fatal(err)
	}
	defer tx.RollBack(t.Context())
	if _, err := tx.ExecContext(t.Context(), "SELECT 1/0"); err == nil {
		t.Error("it divides by zero")
	}
	if err := tx.Commit(t.Context(), newDialect("t").Commit); err == nil {
		t.Error("nothing was written, and that is no error")
	}
}
