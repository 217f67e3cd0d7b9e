package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/bedrock-go/bedrock/txn/sqlstore/internal/sqltest"
)

func BenchmarkCreateFinish(b *testing.B) {
	sqltest.CreateFinish(b, open(b, filepath.Join(b.TempDir(), "bedrock.db"), nil))
}

func BenchmarkClaim(b *testing.B) {
	sqltest.Claims(b, open(b, filepath.Join(b.TempDir(), "bedrock.db"), nil))
}
