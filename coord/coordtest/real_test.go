//go:build !race

// With the race detector a coordinator may be too slow to renew its lease before it is over,
// and then none of its calls is there to be broken. It watches the same code in virtual time.

package coordtest_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/coord/coordtest"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/redisstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/mysql"
	"github.com/bedrock-go/bedrock/txn/sqlstore/postgres"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// onReal is a matrix on a real store. Its runs mostly wait for leases, so many go on
// side by side, each worker on a store of its own.
func onReal(open func(t testing.TB, n int64) (driver.Store, error)) coordtest.Config {
	var stores atomic.Int64
	return coordtest.Config{
		Timing:     coordtest.Real(),
		Workers:    12,
		Successors: []coordtest.Successor{coordtest.Standby},
		Open: func(t testing.TB) driver.Store {
			store, err := open(t, stores.Add(1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
			return store
		},
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	coordtest.Matrix(t, onReal(func(t testing.TB, n int64) (driver.Store, error) {
		return sqlite.Open(t.Context(), filepath.Join(dir, fmt.Sprint(n)), nil)
	}))
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	server := testenv.StartMariaDB(t, nil)
	coordtest.Matrix(t, onReal(func(t testing.TB, n int64) (driver.Store, error) {
		name := fmt.Sprintf("crash%d", n)
		server.CreateDatabase(name)
		return mysql.Open(t.Context(), server.URL(name), nil)
	}))
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	server := testenv.StartPostgres(t, nil)
	coordtest.Matrix(t, onReal(func(t testing.TB, n int64) (driver.Store, error) {
		name := fmt.Sprintf("crash%d", n)
		server.CreateDatabase(name)
		return postgres.Open(t.Context(), server.URL(name), nil)
	}))
}

func TestRedis(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF})
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { client.Close() })
	coordtest.Matrix(t, onReal(func(t testing.TB, n int64) (driver.Store, error) {
		return redisstore.New(t.Context(), goredis.Wrap(client),
			&redisstore.Options{Prefix: fmt.Sprintf("crash%d:", n)})
	}))
}
