package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/postgres"
)

func openSession(db *sql.DB) (driver.Backend, error) {
	return postgres.NewBackend(db, &postgres.Options{Profile: postgres.Advisory})
}

// TestAdvisory is the conformance of the profile.
func TestAdvisory(t *testing.T) {
	locktest.Run(t, sqltest.Postgres(t).Conformance(t, &sqltest.Suite{
		Open: openSession, Reset: []string{"DROP TABLE IF EXISTS bedrock_session_locks"},
		Exempt: conformance.Advisory().Exempt,
	}))
}

// TestSession has what may happen to a session.
func TestSession(t *testing.T) {
	s := sqltest.Session{
		Site: sqltest.Postgres(t), Open: openSession,
		Connections: "SELECT count(*) FROM pg_stat_activity WHERE datname = '%s'",
		Full: []string{
			"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ " +
				"BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$",
			"CREATE TRIGGER full_disk BEFORE INSERT ON bedrock_session_locks FOR EACH ROW EXECUTE FUNCTION full_disk()",
		},
	}
	s.Run(t)
}
