package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

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

// TestClosingTellsOfALoss: a backend is closed while the server makes a request of its session.
func TestClosingTellsOfALoss(t *testing.T) {
	site := sqltest.Postgres(t)
	dsn := site.Fresh(t)
	b := site.Backend(t, dsn, openSession)
	b.(driver.Notifier).Notify(func(m driver.Message) { t.Errorf("told of %q: %v", m.Name, m.Why) })
	if _, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	tx, err := site.Connect(t, dsn).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE bedrock_session_locks IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := b.Acquire(ctx, sqltest.Request("b", "o:2")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while somebody has the table: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
