package lockurl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lockOnce takes and gives back a lock at the backend of that URL.
func lockOnce(t *testing.T, text string) {
	t.Helper()
	backend, err := New(text)
	if err != nil {
		t.Fatal(err)
	}
	session, err := backend.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := session.Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if err := session.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpenMemory(t *testing.T) { lockOnce(t, "mem:") }

func TestMemoryIsSharedByTheClientsOfABackend(t *testing.T) {
	backend, err := New("mem:")
	if err != nil {
		t.Fatal(err)
	}
	var sessions [2]*Session
	for i := range sessions {
		if sessions[i], err = backend.Open(lock.Options{}); err != nil {
			t.Fatal(err)
		}
		defer sessions[i].Stop(t.Context())
	}
	if _, err := sessions[0].Mutex("job", nil).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := sessions[1].Mutex("job", nil).TryLock(t.Context()); err == nil {
		t.Error("both have the lock")
	}
}

func TestOpenRedis(t *testing.T) {
	t.Parallel()
	const password = "p/w:@#?%"
	server := testenv.Redis(t, &testenv.RedisOptions{Password: password})
	lockOnce(t, fmt.Sprintf("redis://:%s@%s/3?ttl=5s", url.QueryEscape(password), server.Addr()))
	if got := server.Do("DBSIZE"); got != int64(0) {
		t.Errorf("database 0 was used: %v keys", got)
	}
}

func TestOpenTLS(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, &testenv.RedisOptions{TLS: true})
	lockOnce(t, fmt.Sprintf("rediss://%s?ca=%s", server.Addr(), url.QueryEscape(server.CAFile)))
	lockOnce(t, fmt.Sprintf("rediss://%s?insecure-skip-verify=true", server.Addr()))
	backend, err := New("rediss://" + server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	session, err := backend.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Stop(t.Context())
	if _, err := session.Inspect(t.Context(), "job"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown authority was trusted: %v", err)
	}
}

func TestOpenSentinel(t *testing.T) {
	t.Parallel()
	set := testenv.Sentinel(t, 1)
	lockOnce(t, fmt.Sprintf("redis-sentinel://%s/%s", strings.Join(set.Addrs(), ","), set.MasterName))
}

func TestOpenCluster(t *testing.T) {
	t.Parallel()
	set := testenv.Cluster(t, 3, 0)
	lockOnce(t, "redis-cluster://"+set.Nodes[1].Addr())
}

func TestOpenFile(t *testing.T) {
	t.Parallel()
	lockOnce(t, "sqlite:"+filepath.Join(t.TempDir(), "locks.db"))
}

func TestOpenEtcd(t *testing.T) {
	t.Parallel()
	member := testenv.StartEtcd(t, nil).Members[0]
	lockOnce(t, "etcd://"+member.Addr()+"?ttl=5s")
	lockOnce(t, "etcd://"+member.Addr()+"?profile=compatible")
	lockOnce(t, "etcd://"+member.Addr()+"?profile=elections")
}

func TestOpenZooKeeper(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	lockOnce(t, "zk://"+server.Addr()+"/app/locks?session=5s&ttl=3s")
	lockOnce(t, "zk://u:p@"+server.Addr()+"?profile=curator")
	lockOnce(t, "zk://"+server.Addr()+"?profile=curator-latch")
}

func TestOpenDatabases(t *testing.T) {
	t.Parallel()
	mariadb, postgres := testenv.StartMariaDB(t, nil), testenv.StartPostgres(t, nil)
	mariadb.CreateDatabase("app")
	postgres.CreateDatabase("app")
	for url, profiles := range map[string][]string{
		mariadb.URL("app") + "?":  {"rows", "shedlock", "named"},
		postgres.URL("app") + "&": {"rows", "shedlock", "advisory"},
	} {
		lockOnce(t, url+"ttl=5s&table=own_locks")
		for _, profile := range profiles {
			lockOnce(t, url+"profile="+profile)
		}
	}
}

// TestFrozenTransactionsHaveNoEnd: a program that stands still amid one keeps others from a lock for seconds.
func TestFrozenTransactionsHaveNoEnd(t *testing.T) {
	t.Parallel()
	server := testenv.StartMariaDB(t, nil)
	server.CreateDatabase("app")
	for settings, want := range map[string]int{"": 5, "&idle_transaction_timeout=7": 7} {
		db, err := mysqlKind{}.openPool(server.URL("app") + strings.Replace(settings, "&", "?", 1))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var idle, deaf int
		err = db.QueryRow("SELECT @@idle_transaction_timeout, @@net_write_timeout").Scan(&idle, &deaf)
		if err != nil || idle != want || deaf != 5 {
			t.Errorf("%q: %d, %d: %v", settings, idle, deaf, err)
		}
	}
}

// TestTablesAreLeft: who has been told to leave the tables makes none, whichever profile it has.
func TestTablesAreLeft(t *testing.T) {
	t.Parallel()
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase("app")
	for _, profile := range []string{"rows", "shedlock", "advisory"} {
		backend, err := New(server.URL("app") + "&profile=" + profile)
		if err != nil {
			t.Fatal(err)
		}
		backend.LeaveTables()
		session, err := backend.Open(lock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Stop(t.Context())
		if _, err = session.Mutex("job", nil).TryLock(t.Context()); err == nil ||
			!strings.Contains(err.Error(), "this program makes none. Have somebody run:\nCREATE TABLE") {
			t.Errorf("%s: without its tables: %v", profile, err)
		}
		if needed, err := backend.MakeTables(t.Context()); !needed || err != nil {
			t.Errorf("%s: make tables: %t, %v", profile, needed, err)
		}
		if _, err := session.Mutex("job", nil).TryLock(t.Context()); err != nil {
			t.Errorf("%s: with its tables: %v", profile, err)
		}
	}
}

// TestAccountOfAnotherEncodingHasOtherLocks: what is set for an account does not matter, what the URL says is refused.
func TestAccountOfAnotherEncodingHasOtherLocks(t *testing.T) {
	t.Parallel()
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase("app")
	const name = "z\u00e4hler"
	url := server.URL("app")
	lock := func(url string) error {
		backend, err := New(url)
		if err != nil {
			t.Fatal(err)
		}
		session, err := backend.Open(lock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Stop(context.Background()) })
		_, err = session.Mutex(name, nil).TryLock(t.Context())
		return err
	}
	if err := lock(url); err != nil {
		t.Fatal(err)
	}
	db, err := postgresKind{}.openPool(url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "ALTER DATABASE app SET client_encoding = 'LATIN1'"); err != nil {
		t.Fatal(err)
	}
	if err := lock(url); !errors.Is(err, driver.ErrHeld) {
		t.Errorf("an account of another encoding: %v", err)
	}
	if err := lock(url + "&client_encoding=LATIN1"); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a connection of another encoding: %v", err)
	}
}

// TestSharedProfilesAreNotOfSeveral: nobody else who has the locks would know of the others.
func TestSharedProfilesAreNotOfSeveral(t *testing.T) {
	const other = "redis://h"
	for _, url := range []string{
		"etcd://h", "zk://h", "postgres://h/x?profile=shedlock", "postgres://h/x?profile=advisory",
		"mysql://h/x?profile=named",
	} {
		if _, err := NewCombination([]string{other, url}, nil); err == nil ||
			!strings.Contains(err.Error(), "are no part of") {
			t.Errorf("%s is one of several: %v", url, err)
		}
	}
}

func TestSessionsAreNotForOthers(t *testing.T) {
	for url, wanted := range map[string]string{
		"zk://h": "would end with its session", "postgres://h/x?profile=advisory": "would end with its connection",
		"mysql://h/x?profile=named": "would end with its connection", "mysql://h/x?profile=shedlock": "",
		"etcd://h": "",
	} {
		backend, err := New(url)
		if err != nil {
			t.Fatal(err)
		}
		err = backend.Lends()
		if (err == nil) != (wanted == "") || err != nil && !strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestNewReadsCertificates(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"rediss://h?ca=/missing.pem":              "option ca cannot be read: open /missing.pem",
		"rediss://h?ca=" + url.QueryEscape(empty): "option ca names a file without a PEM certificate",
		"rediss://h?cert=/missing.crt&key=/missing.key": "" +
			"options cert and key cannot be read: open /missing.crt",
		"rediss://u:secret@h?cert=/missing.crt&key=/other.key": "options cert and key",
	} {
		_, err := New(text)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), "backend URL: "+want) {
			t.Errorf("%s: got %v, want an Error, %q", text, err, want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", text, err)
		}
	}
}
