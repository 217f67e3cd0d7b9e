package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/mysql"
)

// TestDatabase has tests that share a server.
func TestDatabase(t *testing.T) {
	site := sqltest.MariaDB(t)
	site.RowScenes(t, open)
	t.Run("WrongPasswordIsNoMissingTable", func(t *testing.T) {
		b := site.Backend(t, strings.Replace(site.Fresh(t), "open-sesame", "wrong", 1), open)
		defer b.Close()
		sqltest.TellsNoSchema(t, b, "Access denied")
	})
	t.Run("NamesAreMangled", func(t *testing.T) { namesAreMangled(t, site, site.Fresh(t)) })
	t.Run("AccountMayNotMakeTables", func(t *testing.T) { accountMayNotMakeTables(t, site, site.Fresh(t)) })
	t.Run("CheckOverlooksThatNobodyMayWrite", func(t *testing.T) {
		site.CheckOverlooksThatNobodyMayWrite(t, accounts())
	})
	t.Run("TheRightsAreNotEnough", func(t *testing.T) { site.TheRightsAreNotEnough(t, accounts()) })
	t.Run("WriteMayHaveHappened", func(t *testing.T) {
		only := sqltest.ReadOnly{
			Site: sqltest.MariaDB(t), Accounts: accounts(), Begin: "SET GLOBAL read_only = 1",
			Settings: []string{"", "&rejectReadOnly=true"},
		}
		only.WriteMayHaveHappened(t)
	})
	t.Run("CrowdLooksFree", func(t *testing.T) { site.CrowdLooksFree(t, accounts()) })
	t.Run("BundleOverlooksAReader", func(t *testing.T) { bundleOverlooksAReader(t, site, site.Fresh(t)) })
	t.Run("ContendersDeadlock", func(t *testing.T) { contendersDeadlock(t, site, site.Fresh(t)) })
	for i, settings := range []string{
		"&autocommit=0", "&tx_isolation=%27SERIALIZABLE%27", "&tx_isolation=%27READ-COMMITTED%27",
		"&time_zone=%27-08:00%27", "&sql_mode=%27ANSI,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES%27",
		"&interpolateParams=true", "&collation=utf8mb4_general_ci",
	} {
		t.Run(fmt.Sprint("SettingMatters", i), func(t *testing.T) { settingMatters(t, site, site.Fresh(t), settings) })
	}
}

// namesAreMangled has a connection turn what it is told into fewer characters than there are.
func namesAreMangled(t *testing.T, site *sqltest.Site, dsn string) {
	for _, settings := range []string{
		"&collation_connection=utf8_general_ci", "&character_set_connection=latin1", "&character_set_client=latin1",
	} {
		for _, opened := range []func(*sql.DB) (driver.Backend, error){open, openShedLock, openSession} {
			b := site.Backend(t, dsn+settings, opened)
			_, err := b.Acquire(t.Context(), sqltest.Request("a😀", "o:1"))
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "character_set_connection is ") {
				t.Errorf("%s: %v", settings, err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// accountMayNotMakeTables is told what somebody else should run; then it can use them.
func accountMayNotMakeTables(t *testing.T, site *sqltest.Site, dsn string) {
	site.Execute(t, dsn, "CREATE USER IF NOT EXISTS weak@'127.0.0.1' IDENTIFIED BY 'weak'",
		"GRANT SELECT ON accountmaynotmaketables.* TO weak@'127.0.0.1'")
	b := site.Backend(t, strings.Replace(dsn, "bedrock:open-sesame", "weak:weak", 1), open)
	defer b.Close()
	_, err := b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "CREATE TABLE") {
		t.Fatal(err)
	}
	text, err := mysql.Schema(nil)
	if err != nil {
		t.Fatal(err)
	}
	site.Execute(t, dsn+"&multiStatements=true", text)
	_, err = b.Acquire(t.Context(), sqltest.Request("a", "o:1"))
	if !errors.Is(err, driver.ErrRefused) || strings.Contains(err.Error(), "CREATE TABLE") {
		t.Errorf("an account that may only read: %v", err)
	}
	site.Execute(t, dsn, "GRANT INSERT, UPDATE, DELETE ON accountmaynotmaketables.* TO weak@'127.0.0.1'")
	// Connections learn of it late.
	again := site.Backend(t, strings.Replace(dsn, "bedrock:open-sesame", "weak:weak", 1), open)
	defer again.Close()
	if _, err := again.Acquire(t.Context(), sqltest.Request("a", "o:1")); err != nil {
		t.Error(err)
	}
}

// accounts are those of a MariaDB.
func accounts() *sqltest.Accounts {
	const user = "{user}@'127.0.0.1'"
	return &sqltest.Accounts{
		Create: "CREATE USER " + user + " IDENTIFIED BY 'weak'",
		Grant:  "GRANT {rights} ON {database}.{table} TO " + user,
		Open: map[string]func(*sql.DB) (driver.Backend, error){
			"bedrock_locks": open, "shedlock": openShedLock, "bedrock_session_locks": openSession,
		},
	}
}

// bundleOverlooksAReader has two locks be had in one step, the first of which somebody else is at, while a reader comes
// to the second.
func bundleOverlooksAReader(t *testing.T, site *sqltest.Site, dsn string) {
	b := site.Backend(t, dsn, open)
	defer b.Close()
	bundler, ok := b.(driver.Bundler)
	if !ok {
		t.Fatalf("%T is no Bundler", b)
	}
	x := sqltest.Request("x", "r:0")
	x.Mode = driver.Shared
	read := sqltest.Request("y", "r:1")
	read.Mode = driver.Shared
	g, err := b.Acquire(t.Context(), read) // both have rows
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if g, err = b.Acquire(t.Context(), x); err != nil { // and x has readers, so that more than its row is read
		t.Fatal(err)
	}
	if _, err := b.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	line := sqltest.Request("x", "w:0")
	line.Fair, line.Waits, line.TTL = true, true, time.Hour
	if g, err = b.Acquire(t.Context(), sqltest.Request("x", "h:0")); err != nil {
		t.Fatal(err)
	}
	_, _ = b.Acquire(t.Context(), line) // it has a place
	if _, err := b.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	tx, err := site.Connect(t, dsn).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec("SELECT 1 FROM bedrock_locks WHERE name = 'y' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	bundle := make(chan error, 1)
	go func() {
		both := []driver.Request{sqltest.Request("x", "e:1"), sqltest.Request("y", "e:1")}
		_, err := bundler.AcquireAll(t.Context(), both)
		bundle <- err
	}()
	awaitLockWait(t, site, dsn) // it has read x, and waits for y
	for _, s := range []string{
		"INSERT INTO bedrock_locks_holders SELECT 'y', 'holder', 'r:2', 'shared', 0, 0, 1, 1, 1, " +
			"9000000000000000, 0, '', ''",
		"UPDATE bedrock_locks SET others = 1 WHERE name = 'y'",
	} {
		if _, err := tx.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-bundle; !errors.Is(err, driver.ErrKind) {
		t.Errorf("a reader has y: %v", err)
	}
}

// awaitLockWait waits until a transaction waits for another. The table that tells is made anew only when nobody has
// read it for a tenth of a second.
func awaitLockWait(t *testing.T, site *sqltest.Site, dsn string) {
	t.Helper()
	db := site.Connect(t, dsn)
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for n := 0; n == 0; <-tick.C {
		err := db.QueryRowContext(t.Context(),
			"SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// contendersDeadlock has many take and give back the same few names, new ones among them.
func contendersDeadlock(t *testing.T, site *sqltest.Site, dsn string) {
	b := site.Backend(t, dsn, open)
	defer b.Close()
	before := deadlocks(t, site, dsn)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 60 {
				req := sqltest.Request(fmt.Sprint("n", n/3), fmt.Sprintf("o%d:%d", i, n))
				if n%2 == i%2 {
					req.Name, req.Mode = "r"+req.Name, driver.Shared
				}
				g, err := b.Acquire(t.Context(), req)
				if err == nil {
					_, err = b.Release(t.Context(), g)
				}
				if err != nil && !errors.Is(err, driver.ErrHeld) {
					t.Errorf("%s: %v", req.Name, err)
				}
			}
		})
	}
	all.Wait()
	if after := deadlocks(t, site, dsn); after != before {
		t.Errorf("%d deadlocks", after-before)
	}
}

// deadlocks returns how many the server has ended.
func deadlocks(t *testing.T, site *sqltest.Site, dsn string) (n int) {
	t.Helper()
	var status string
	err := site.Connect(t, dsn).QueryRow("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'").Scan(&status, &n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// settingMatters has two clients exclude each other, one of which has unusual settings.
func settingMatters(t *testing.T, site *sqltest.Site, dsn, settings string) {
	usual, odd := site.Backend(t, dsn, open), site.Backend(t, dsn+settings, open)
	defer usual.Close()
	defer odd.Close()
	var token uint64
	for i, b := range []driver.Backend{odd, usual, odd, usual} {
		other := []driver.Backend{usual, odd}[i%2]
		req := sqltest.Request("a", fmt.Sprintf("o:%d", i))
		g, err := b.Acquire(t.Context(), req)
		if err != nil || g.Token <= token {
			t.Fatalf("token %d after %d: %v", g.Token, token, err)
		}
		token = g.Token
		_, err = other.Acquire(t.Context(), sqltest.Request("a", "p:1"))
		if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.TTL < 50*time.Second ||
			held.TTL > time.Minute {
			t.Errorf("the other one: %v, %+v", err, held)
		}
		for _, like := range []string{"A", "a ", "á"} {
			g, err := b.Acquire(t.Context(), sqltest.Request(like, req.Owner))
			if err != nil {
				t.Errorf("%q is taken for another name: %v", like, err)
				continue
			}
			if _, err := b.Release(t.Context(), g); err != nil {
				t.Error(err)
			}
		}
		if err := other.Renew(t.Context(), []driver.Grant{g})[0]; err != nil {
			t.Error(err)
		}
		if _, err := b.Release(t.Context(), g); err != nil {
			t.Error(err)
		}
		if _, err := other.Release(t.Context(), g); err != nil {
			t.Errorf("released once more: %v", err)
		}
	}
}
