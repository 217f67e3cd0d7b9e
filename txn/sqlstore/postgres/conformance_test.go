package postgres_test

import (
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/sqlstore/internal/sqltest"
)

func TestConformance(t *testing.T) { subject(start(t)).Conformance(t) }

const database = "app"

func start(t testing.TB) *testenv.PostgresServer {
	t.Helper()
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase(database)
	return server
}

func BenchmarkCreateFinish(b *testing.B) {
	sqltest.CreateFinish(b, subject(start(b)).Store(b, nil))
}

func BenchmarkClaim(b *testing.B) { sqltest.Claims(b, subject(start(b)).Store(b, nil)) }
