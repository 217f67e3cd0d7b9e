package sqlguard_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/sqlguard"
)

// TestConnectionsHaveFencesOfTheirOwn: over connections of whatever characters a name has one fence, and no other name
// has it.
func TestConnectionsHaveFencesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := testenv.StartMariaDB(t, nil)
	s.CreateDatabase("data")
	usual := newEngine(t, "mysql", s.DSN("data"), sqlguard.MySQL)
	for _, characters := range []string{
		"&charset=latin1", "&character_set_connection=latin1", "&character_set_client=latin1",
		"&collation_connection=latin1_swedish_ci", "&charset=utf8&collation_connection=utf8mb4_bin",
	} {
		t.Run(characters, func(t *testing.T) {
			other, err := openOther(t, usual, s.DSN("data")+characters)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"é", "日本", "😀"} {
				name += characters
				mustAccept(t, usual.check(t.Context(), guard.Ticket{Name: name, Token: 7}))
				err := other.check(t.Context(), guard.Ticket{Name: name, Token: 6})
				if !errors.Is(err, guard.ErrStale) {
					t.Errorf("of %q a token older than the newest was accepted: %v", name, err)
				}
			}
			mustAccept(t, other.check(t.Context(), guard.Ticket{Name: "日光" + characters, Token: 6}))
		})
	}
}

// openOther has the table of an engine checked over other connections.
func openOther(t *testing.T, e *engine, dsn string) (*engine, error) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = db.Close() })
	other := *e
	other.db = db
	other.g, err = sqlguard.New(db, sqlguard.MySQL, nil)
	return &other, err
}
