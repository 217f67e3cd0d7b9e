package postgres_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/testenv"
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

// TestPoolerLendsTheSession: behind a pooler that lends connections by the transaction, two have one session.
func TestPoolerLendsTheSession(t *testing.T) {
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase("app")
	pooler := testenv.StartPgBouncer(t, server)
	for _, dsn := range []string{pooler.DSN("app"), server.DSN("app")} {
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		b, err := openSession(db)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
		switch behind := dsn != server.DSN("app"); {
		case !behind && err != nil:
			t.Error(err)
		case behind && (!errors.Is(err, driver.ErrUnsupported) || !strings.Contains(err.Error(), "pooler")):
			t.Errorf("behind a pooler: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPoolerGoesOnListening: the connection that a pooler has lent is lent to others afterwards.
func TestPoolerGoesOnListening(t *testing.T) {
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase("app")
	db, err := sql.Open("pgx", testenv.StartPgBouncer(t, server).DSN("app"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b, err := open(db)
	if err != nil {
		t.Fatal(err)
	}
	waiter := waiterOf(t, b)
	if _, err := waiter.Watch(t.Context(), "a", driver.Mutex); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("behind a pooler: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	var channels int
	if err := db.QueryRow("SELECT count(*) FROM pg_listening_channels()").Scan(&channels); err != nil || channels > 0 {
		t.Errorf("the next one listens to %d channels: %v", channels, err)
	}
}
