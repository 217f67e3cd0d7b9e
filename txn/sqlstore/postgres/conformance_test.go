package postgres_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/internal/sqltest"
	"github.com/bedrock-go/bedrock/txn/sqlstore/postgres"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

func TestConformance(t *testing.T) {
	server := start(t)
	var tables atomic.Int64
	txntest.Run(t, func(t testing.TB) driver.Store {
		opts := &postgres.Options{Table: fmt.Sprint("tx", tables.Add(1))}
		return twin{open(t, server, opts), server, opts}
	})
}

// twin is a store whose table can be opened again, as by another replica.
type twin struct {
	*sqlstore.Store
	server *testenv.PostgresServer
	opts   *postgres.Options
}

func (s twin) Twin(t testing.TB) driver.Store {
	t.Helper()
	return open(t, s.server, s.opts)
}

const database = "app"

func start(t testing.TB) *testenv.PostgresServer {
	t.Helper()
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase(database)
	return server
}

// open opens a store that is closed at the end of the test.
func open(t testing.TB, server *testenv.PostgresServer, opts *postgres.Options) *sqlstore.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), server.URL(database), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func BenchmarkCreateFinish(b *testing.B) {
	sqltest.CreateFinish(b, open(b, start(b), nil))
}

func BenchmarkClaim(b *testing.B) { sqltest.Claims(b, open(b, start(b), nil)) }
