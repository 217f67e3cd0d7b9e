package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

func TestConformance(t *testing.T) {
	locktest.Run(t, locktest.Backend{
		TTL: leaseTime,
		Open: func(t testing.TB) locktest.Server {
			path := filepath.Join(t.TempDir(), "locks.db")
			return locktest.WithFreeze(func(t testing.TB) driver.Backend {
				b, err := sqlite.OpenBackend(path, nil)
				if err != nil {
					t.Fatal(err)
				}
				return b
			})
		},
		Exempt: conformance.SQLite().Exempt,
	})
}

// leaseTime is for leases that end while somebody looks. Each request waits for the disk, which others use, too.
const leaseTime = 1500 * time.Millisecond
