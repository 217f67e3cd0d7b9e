package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
)

// TestAccounts asks what is wrong for accounts that may not do all.
func TestAccounts(t *testing.T) {
	site := sqltest.Postgres(t)
	accounts := &sqltest.Accounts{
		Create: "CREATE ROLE {user} LOGIN PASSWORD 'weak'",
		Grant:  "GRANT {rights} ON {table} TO {user}",
		Open: map[string]func(*sql.DB) (driver.Backend, error){
			"bedrock_locks": open, "shedlock": openShedLock, "bedrock_session_locks": openSession,
		},
	}
	t.Run("CheckOverlooksThatNobodyMayWrite", func(t *testing.T) { site.CheckOverlooksThatNobodyMayWrite(t, accounts) })
	t.Run("TheRightsAreNotEnough", func(t *testing.T) { site.TheRightsAreNotEnough(t, accounts) })
	t.Run("WriteMayHaveHappened", func(t *testing.T) {
		only := sqltest.ReadOnly{
			Site: site, Accounts: accounts, Settings: []string{"&default_transaction_read_only=on"},
			But: "bedrock_session_locks", // which sets that itself
		}
		only.WriteMayHaveHappened(t)
	})
	t.Run("CrowdLooksFree", func(t *testing.T) { site.CrowdLooksFree(t, accounts) })
}
