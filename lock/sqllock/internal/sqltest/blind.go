package sqltest

import (
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// CrowdLooksFree has an account look that may not see who has a lock together with others. It sees
// mutexes; a lock that readers have is never shown free.
func (s *Site) CrowdLooksFree(t *testing.T, a *Accounts) {
	t.Helper()
	dsn := s.Fresh(t)
	a.makeTables(t, s, dsn)
	own := a.account(t, s, dsn, "blind", entryTable, "")
	b := s.Backend(t, dsn, a.Open[nameTable])
	defer b.Close()
	blind := s.Backend(t, own, a.Open[nameTable]).(driver.Inspector)
	defer blind.(driver.Backend).Close()
	if infos, err := blind.List(t.Context(), "", 10); err != nil || len(infos) != 1 {
		t.Errorf("of one mutex: %v, %v", infos, err)
	}
	if info, err := blind.Inspect(t.Context(), "a"); err != nil || len(info.Holders) != 1 {
		t.Errorf("the mutex: %v, %v", info, err)
	}
	read := Request("read", "o:1")
	read.Mode = driver.Shared
	if _, err := b.Acquire(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	if infos, err := blind.List(t.Context(), "", 10); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("readers have one: %v, %v", infos, err)
	} else {
		t.Log(err)
	}
	if info, err := blind.Inspect(t.Context(), "read"); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("readers have it: %v, %v", info, err)
	}
	if info, err := blind.Inspect(t.Context(), "a"); err != nil || len(info.Holders) != 1 {
		t.Errorf("the mutex beside: %v, %v", info, err)
	}
}
