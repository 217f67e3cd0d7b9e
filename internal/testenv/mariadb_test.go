package testenv_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// TestMariaDBKeepsToItsFolder: a server that starts removes the temporary tables
// of all servers that share its folder for them.
func TestMariaDBKeepsToItsFolder(t *testing.T) {
	t.Parallel()
	s := testenv.StartMariaDB(t, nil)
	s.CreateDatabase("db")
	if got := ask(t, s, "db", "SELECT @@tmpdir"); got != s.Dir {
		t.Errorf("temporary tables are kept in %q, want %q", got, s.Dir)
	}
}
