package sqltest

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// CheckOverlooksThatNobodyMayWrite asks what is wrong for an account that may read, and for one that may write, of
// every profile. The user "weak" is there; %s of the grant is what it may do with the tables.
func (s *Site) CheckOverlooksThatNobodyMayWrite(
	t *testing.T, grant string, profiles map[string]func(*sql.DB) (driver.Backend, error),
) {
	t.Helper()
	dsn := s.Fresh(t)
	weak := strings.Replace(dsn, "bedrock:open-sesame", "weak:weak", 1)
	for _, open := range profiles { // each makes its tables
		b := s.Backend(t, dsn, open)
		defer b.Close()
		if _, err := b.Acquire(t.Context(), Request("a", "o:1")); err != nil {
			t.Fatal(err)
		}
	}
	for _, rights := range []string{"SELECT", "SELECT, INSERT, UPDATE, DELETE"} {
		s.Execute(t, dsn, strings.Replace(grant, "%s", rights, 1))
		for name, open := range profiles {
			b := s.Backend(t, weak, open)
			defer b.Close()
			found, err := b.(driver.Checker).Check(t.Context())
			if err != nil {
				t.Errorf("%s, %s: %v", name, rights, err)
				continue
			}
			refused := found[0].Level == driver.Danger && strings.Contains(found[0].What, "account cannot write")
			if refused != (rights == "SELECT") {
				t.Errorf("%s, %s: %+v", name, rights, found)
			}
		}
	}
}
