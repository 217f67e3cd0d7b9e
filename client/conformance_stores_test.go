package client_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

// TestLockConformanceOnStores puts the locks of servers through it that keep them in a store of their own.
func TestLockConformanceOnStores(t *testing.T) {
	for _, c := range []struct {
		store conformance.Backend
		start func(*testing.T) (url string)
	}{
		{conformance.Redis(), func(t *testing.T) string {
			return "redis://" + testenv.Redis(t, nil).Addr()
		}},
		{conformance.Postgres(), func(t *testing.T) string {
			s := testenv.StartPostgres(t, nil)
			s.CreateDatabase("app")
			return s.URL("app")
		}},
		{conformance.MySQL(), func(t *testing.T) string {
			s := testenv.StartMariaDB(t, nil)
			s.CreateDatabase("app")
			return s.URL("app")
		}},
		{conformance.SQLite(), func(t *testing.T) string {
			return "sqlite:" + filepath.Join(t.TempDir(), "locks.db")
		}},
		{conformance.Etcd(), func(t *testing.T) string {
			return "etcd://" + testenv.StartEtcd(t, nil).Members[0].Addr()
		}},
	} {
		t.Run(c.store.Name, func(t *testing.T) {
			url := c.start(t)
			locktest.Run(t, locktest.Backend{
				Open: func(t testing.TB) locktest.Server { return openLocksAt(t, url) },
				TTL:  time.Second, PublicOwners: true, Exempt: conformance.ServerOn(c.store),
			})
		})
	}
}

// openLocksAt has a server of its own keep its locks at a URL.
func openLocksAt(t testing.TB, url string) locktest.Server {
	t.Helper()
	location, err := lockurl.New(url)
	if err != nil {
		t.Fatal(err)
	}
	var closes []func() error
	t.Cleanup(func() { // after all that looks what is left
		for _, end := range closes {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	return openLab(&lab{t: t, open: func() driver.Backend {
		backend, hangUp, err := location.DriverForOthers()
		if err != nil {
			t.Error(err)
			return nil
		}
		closes = append(closes, backend.Close, hangUp)
		return backend
	}})
}
