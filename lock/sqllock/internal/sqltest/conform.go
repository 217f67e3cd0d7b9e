package sqltest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

// LeaseTime is for leases that end while somebody looks. Each request waits for the disk, which others use, too.
const LeaseTime = 1500 * time.Millisecond

// Suite is a conformance test.
type Suite struct {
	// Open makes a backend.
	Open func(*sql.DB) (driver.Backend, error)
	// Reset are the statements by which the database forgets everything.
	Reset []string
	// Exempt is what need not be shown.
	Exempt map[locktest.Capability]string
}

// Conformance is what locktest.Run is to be given.
func (s *Site) Conformance(t *testing.T, suite *Suite) locktest.Backend {
	t.Helper()
	dsn := s.DSN(Database)
	restart := inBackground(t, s.Restart)
	return locktest.Backend{
		TTL:    LeaseTime,
		Shared: true,
		Open: func(testing.TB) locktest.Server {
			return locktest.Server{
				Connect: func(t testing.TB) driver.Backend { return s.Backend(t, dsn, suite.Open) },
				Freeze:  s.Freeze, Thaw: s.Thaw,
				Restart: func(keepData bool) {
					restart()
					if !keepData {
						s.forgetAll(t, suite.Reset)
					}
				},
				Disconnect: func() { s.Disconnect(t) },
				Lag: func(t testing.TB) (driver.Backend, func(time.Duration)) {
					proxy, err := chaos.New(s.Addr())
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = proxy.Close() })
					return s.Backend(t, strings.Replace(dsn, s.Addr(), proxy.Addr(), 1), suite.Open), proxy.Delay
				},
			}
		},
		Exempt: suite.Exempt,
	}
}

// forgetAll runs statements over a connection that it does not keep.
func (s *Site) forgetAll(t testing.TB, statements []string) {
	t.Helper()
	db, err := sql.Open(s.driver, s.DSN(Database))
	if err != nil {
		t.Error(err)
		return
	}
	defer db.Close()
	for _, text := range statements {
		if _, err := db.ExecContext(context.Background(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// inBackground has something done by a goroutine that belongs to no behaviour: what it starts outlives that.
func inBackground(t *testing.T, do func()) (run func()) {
	t.Helper()
	wanted, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(wanted) })
	go func() {
		for range wanted {
			do()
			done <- struct{}{}
		}
	}()
	return func() {
		wanted <- struct{}{}
		<-done
	}
}
