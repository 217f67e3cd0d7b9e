package sqltest

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/latch"
)

// Accounts are statements of a database: {user}, {rights} and {table} are filled in, and {database}.
type Accounts struct {
	Create, Grant string
	// Open has every profile, by the name of its (first) table.
	Open map[string]func(*sql.DB) (driver.Backend, error)
}

// The tables of the profiles, unless they are called otherwise.
const (
	nameTable    = "bedrock_locks"
	entryTable   = nameTable + "_holders"
	aboutTable   = nameTable + "_about"
	shedTable    = "shedlock"
	sessionTable = "bedrock_session_locks"
)

// enough are the rights that an account needs, as the guide has them.
func enough() map[string]string {
	return map[string]string{
		nameTable: "SELECT, INSERT, UPDATE, DELETE", entryTable: "SELECT, INSERT, UPDATE, DELETE",
		aboutTable: "SELECT, UPDATE", shedTable: "SELECT, INSERT, UPDATE", sessionTable: "SELECT, INSERT, UPDATE",
	}
}

// makeTables makes the tables of all profiles, and takes a lock in each. It does so once for a database: that of a
// session that was closed is held for another moment.
func (a *Accounts) makeTables(t *testing.T, s *Site, dsn string) {
	t.Helper()
	for _, open := range a.Open {
		b := s.Backend(t, dsn, open)
		defer b.Close()
		if _, err := b.Acquire(t.Context(), Request("a", "o:1")); err != nil {
			t.Fatal(err)
		}
	}
}

// account makes an account that has enough rights but for what is said of one table, and returns where the database is
// for it.
func (a *Accounts) account(t *testing.T, s *Site, dsn, name, table, rights string) (own string) {
	t.Helper()
	all := enough()
	if table != "" {
		all[table] = rights
	}
	database := strings.ToLower(t.Name()[strings.LastIndex(t.Name(), "/")+1:])
	replace := func(text, table string) string {
		return strings.NewReplacer("{user}", name, "{table}", table, "{rights}", all[table], "{database}", database).
			Replace(text)
	}
	s.Execute(t, dsn, replace(a.Create, ""))
	for _, table := range slices.Sorted(maps.Keys(all)) {
		if all[table] != "" {
			s.Execute(t, dsn, replace(a.Grant, table))
		}
	}
	return strings.Replace(dsn, "bedrock:open-sesame", name+":weak", 1)
}

// CheckOverlooksThatNobodyMayWrite asks what is wrong for accounts that lack a right.
func (s *Site) CheckOverlooksThatNobodyMayWrite(t *testing.T, a *Accounts) {
	t.Helper()
	dsn := s.Fresh(t)
	a.makeTables(t, s, dsn)
	const all, crowds, table = "it takes no locks", "mutexes work", "the table grows"
	for i, c := range []struct {
		of, table, rights string
		level             driver.Level
		what, means       string
	}{
		{nameTable, nameTable, "", driver.Danger, "lacks SELECT on bedrock_locks:", all},
		{nameTable, nameTable, "SELECT", driver.Danger, "lacks INSERT, UPDATE on bedrock_locks:", all},
		{nameTable, nameTable, "SELECT, UPDATE, DELETE", driver.Danger, "lacks INSERT on bedrock_locks:", all},
		{nameTable, nameTable, "SELECT, INSERT, UPDATE", driver.Warning, "lacks DELETE on bedrock_locks:", table},
		{
			nameTable, entryTable, "SELECT, INSERT, UPDATE",
			driver.Danger, "lacks DELETE on bedrock_locks_holders:", crowds,
		},
		{nameTable, aboutTable, "SELECT", driver.Warning, "lacks UPDATE on bedrock_locks_about:", table},
		{nameTable, aboutTable, "", driver.Danger, "lacks rights:", all},
		{shedTable, shedTable, "SELECT, INSERT", driver.Danger, "lacks UPDATE on shedlock:", all},
		{sessionTable, sessionTable, "SELECT", driver.Danger, "lacks INSERT, UPDATE on bedrock_session_locks:", all},
	} {
		b := s.Backend(t, a.account(t, s, dsn, fmt.Sprint("weak", i), c.table, c.rights), a.Open[c.of])
		defer b.Close()
		found, err := b.(driver.Checker).Check(t.Context())
		if err != nil || len(found) == 0 {
			t.Errorf("%s on %s: %v, %v", c.rights, c.table, found, err)
			continue
		}
		worst := found[0]
		if worst.Level != c.level || !strings.Contains(worst.What, c.what) || !strings.Contains(worst.Means, c.means) {
			t.Errorf("%s on %s: %+v, want %s", c.rights, c.table, found, c.what)
		}
	}
}

// TheRightsAreNotEnough has an account with exactly the rights that are enough look, and take a lock of each kind.
func (s *Site) TheRightsAreNotEnough(t *testing.T, a *Accounts) {
	t.Helper()
	dsn := s.Fresh(t)
	a.makeTables(t, s, dsn)
	own := a.account(t, s, dsn, "enough", "", "")
	for table, open := range a.Open {
		locks, err := lock.New(s.Backend(t, own, open), nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := locks.Check(t.Context())
		if err != nil || slices.ContainsFunc(found, isWorseThanNotice) {
			t.Errorf("%s: %+v, %v", table, found, err)
		}
		takeEachKind(t, locks, table == nameTable)
		if err := locks.Stop(t.Context()); err != nil {
			t.Errorf("%s: %v", table, err)
		}
	}
}

func isWorseThanNotice(f driver.Finding) bool { return f.Level > driver.Notice }

// takeEachKind takes a lock of each kind, or a mutex alone, and gives it back.
func takeEachKind(t *testing.T, locks *lock.Client, all bool) {
	t.Helper()
	kinds := map[string]lock.Lockable{"mutex": locks.Mutex("mutex", nil)}
	if all {
		kinds["fair"] = locks.Mutex("fair", &lock.MutexOptions{Fair: true})
		kinds["reader"], kinds["writer"] = locks.RWMutex("rw", nil).Reader(), locks.RWMutex("w", nil).Writer()
		kinds["permits"] = locks.Semaphore("permits", 3, nil).Permits(2)
	}
	for kind, wanted := range kinds {
		lease, err := wanted.Lock(t.Context())
		if err == nil {
			err = lease.Unlock(t.Context())
		}
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if !all {
		return
	}
	counted := latch.New(locks, "latch", nil)
	if _, err := counted.Set(t.Context(), 1); err != nil {
		t.Errorf("latch: %v", err)
	}
	if _, err := counted.CountDown(t.Context()); err != nil {
		t.Errorf("latch: %v", err)
	}
}
