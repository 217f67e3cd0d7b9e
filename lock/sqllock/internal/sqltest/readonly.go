package sqltest

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// ReadOnly is the test of a server, or an account, that takes no writes.
type ReadOnly struct {
	Site     *Site
	Accounts *Accounts
	// Begin is what an administrator says; empty where the address says it, to which Settings are added.
	Begin    string
	Settings []string
	// But is the table of a profile that writes all the same.
	But string
}

// WriteMayHaveHappened has each profile be asked for each change: nothing has happened, and the error says why.
func (r *ReadOnly) WriteMayHaveHappened(t *testing.T) {
	t.Helper()
	dsn := r.Site.Fresh(t)
	r.Accounts.makeTables(t, r.Site, dsn)
	own := r.Accounts.account(t, r.Site, dsn, "reader", "", "")
	profiles := maps.Clone(r.Accounts.Open)
	delete(profiles, r.But)
	grants := make(map[string][]driver.Grant)
	for table, open := range profiles {
		b := r.Site.Backend(t, dsn, open)
		defer b.Close()
		for _, req := range requestsOf(table) {
			req.Name = "held " + req.Name
			g, err := b.Acquire(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			grants[table] = append(grants[table], g)
		}
	}
	if r.Begin != "" {
		r.Site.Execute(t, dsn, r.Begin)
	}
	for _, settings := range r.Settings {
		for table, open := range profiles {
			b := r.Site.Backend(t, own+settings, open)
			defer b.Close()
			askAll(t, table+settings, b, requestsOf(table))
			if table != sessionTable { // whose grants are of a session
				changeAll(t, table+settings, b, grants[table])
			}
		}
	}
}

// requestsOf are the kinds of locks that a profile has.
func requestsOf(table string) []driver.Request {
	mutex, shared, permit := Request("mutex", "o:1"), Request("shared", "o:1"), Request("permit", "o:1")
	if table != nameTable {
		return []driver.Request{mutex}
	}
	shared.Mode = driver.Shared
	permit.Mode, permit.Permits, permit.Limit = driver.Permit, 1, 2
	return []driver.Request{mutex, shared, permit}
}

func askAll(t *testing.T, what string, b driver.Backend, requests []driver.Request) {
	t.Helper()
	for _, req := range requests {
		_, err := b.Acquire(t.Context(), req)
		wantNothingWritten(t, what+": acquire "+req.Name, err)
	}
}

func changeAll(t *testing.T, what string, b driver.Backend, grants []driver.Grant) {
	t.Helper()
	for _, g := range grants {
		wantNothingWritten(t, what+": renew "+g.Name, b.Renew(t.Context(), []driver.Grant{g})[0])
		_, err := b.Release(t.Context(), g)
		wantNothingWritten(t, what+": release "+g.Name, err)
		_, err = b.(driver.Forcer).ForceRelease(t.Context(), g.Name)
		wantNothingWritten(t, what+": force "+g.Name, err)
	}
	for i, err := range b.Renew(t.Context(), grants) {
		wantNothingWritten(t, what+": renew with others "+grants[i].Name, err)
	}
}

func wantNothingWritten(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrUnavailable) || lock.MaybeApplied(err) ||
		!strings.Contains(strings.ReplaceAll(err.Error(), "_", "-"), "read-only") {
		t.Errorf("%s: %v", what, err)
	}
}
