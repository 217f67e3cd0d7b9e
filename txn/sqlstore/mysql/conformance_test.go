package mysql_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/internal/sqltest"
	"github.com/bedrock-go/bedrock/txn/sqlstore/mysql"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

func TestConformance(t *testing.T) {
	server := start(t)
	var tables atomic.Int64
	txntest.Run(t, func(t testing.TB) driver.Store {
		opts := &mysql.Options{Table: fmt.Sprint("tx", tables.Add(1))}
		return twin{open(t, server, opts), server, opts}
	})
}

// twin is a store whose table can be opened again, as by another replica.
type twin struct {
	*sqlstore.Store
	server *testenv.MariaDBServer
	opts   *mysql.Options
}

func (s twin) Twin(t testing.TB) driver.Store {
	t.Helper()
	return open(t, s.server, s.opts)
}

const database = "app"

func start(t testing.TB) *testenv.MariaDBServer {
	t.Helper()
	server := testenv.StartMariaDB(t, nil)
	server.CreateDatabase(database)
	return server
}

// open opens a store that is closed at the end of the test.
func open(t testing.TB, server *testenv.MariaDBServer, opts *mysql.Options) *sqlstore.Store {
	t.Helper()
	s, err := mysql.Open(t.Context(), server.URL(database), opts)
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
