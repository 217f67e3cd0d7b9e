package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
	"github.com/bedrock-go/bedrock/txn/sqlstore/sqlite"
	"github.com/bedrock-go/bedrock/txn/txntest"
)

func TestConformance(t *testing.T) {
	txntest.Run(t, func(t testing.TB) driver.Store {
		path := filepath.Join(t.TempDir(), "bedrock.db")
		return twin{open(t, path, &sqlite.Options{Shared: true}), path}
	})
}

// twin is a store whose file can be opened again, as by another process.
type twin struct {
	*sqlstore.Store
	path string
}

func (s twin) Twin(t testing.TB) driver.Store {
	t.Helper()
	return open(t, s.path, &sqlite.Options{Shared: true})
}

// open opens a store that is closed at the end of the test.
func open(t testing.TB, path string, opts *sqlite.Options) *sqlstore.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts)
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
