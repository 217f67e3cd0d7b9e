//go:build unix

package bank_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/redisstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/mysql"
	"github.com/bedrock-go/bedrock/txn/sqlstore/postgres"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
)

// backend is where coordinators keep transactions.
type backend struct {
	name     string
	url      string
	replicas int
	// kill, restart, pause and resume are nil for a store that is no process.
	kill, restart, pause, resume func()
}

// backends starts a store, by its name.
func backends() map[string]func(t *testing.T) backend {
	return map[string]func(t *testing.T) backend{
		"sqlite": onSQLite, "mariadb": onMariaDB, "postgres": onPostgres, "redis": onRedis,
	}
}

func onSQLite(t *testing.T) backend {
	return backend{name: "sqlite", url: "sqlite:" + filepath.Join(t.TempDir(), "coordinator.db"), replicas: 1}
}

func onMariaDB(t *testing.T) backend {
	s := testenv.StartMariaDB(t, nil)
	s.CreateDatabase("bank")
	return backend{
		name: "mariadb", url: s.URL("bank"), replicas: 2,
		kill: s.Kill, restart: s.Restart, pause: s.Freeze, resume: s.Thaw,
	}
}

func onPostgres(t *testing.T) backend {
	s := testenv.StartPostgres(t, nil)
	s.CreateDatabase("bank")
	return backend{
		name: "postgres", url: s.URL("bank"), replicas: 2,
		kill: s.Kill, restart: s.Restart, pause: s.Freeze, resume: s.Thaw,
	}
}

func onRedis(t *testing.T) backend {
	s := testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF})
	return backend{
		name: "redis", url: "redis://" + s.Addr(), replicas: 2,
		kill: s.Kill, restart: func() { s.Restart(true) }, pause: s.Freeze, resume: s.Thaw,
	}
}

// openStore opens a store by its URL.
func openStore(ctx context.Context, url string) (driver.Store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return sqlite.Open(ctx, rest, &sqlite.Options{Shared: true}) // the audit looks on
	case "mysql":
		return mysql.Open(ctx, url, nil)
	case "postgres":
		return postgres.Open(ctx, url, nil)
	case "redis":
		return openRedis(ctx, url)
	default:
		return nil, fmt.Errorf("store %q is not known", url)
	}
}

func openRedis(ctx context.Context, url string) (driver.Store, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	conn := redis.NewClient(options)
	store, err := redisstore.New(ctx, goredis.Wrap(conn), nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &connectedStore{store, conn}, nil
}

// connectedStore closes its connections as well.
type connectedStore struct {
	driver.Store

	conn *redis.Client
}

func (s *connectedStore) Close() error { return errors.Join(s.Store.Close(), s.conn.Close()) }
