package lockprom_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/lockprom"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// watched returns a client whose events are counted in a registry of its own.
func watched(t *testing.T, opts *lockprom.Options) (*lock.Client, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	observer, err := lockprom.New(registry, opts)
	if err != nil {
		t.Fatal(err)
	}
	locks, err := memlock.New(nil, &lock.Options{Observer: observer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(context.Background()) })
	return locks, registry
}

// hold takes the lock, keeps it that long, and gives it back.
func hold(t *testing.T, m *lock.Mutex, d time.Duration) error {
	t.Helper()
	lease, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	return lease.Unlock(t.Context())
}

func wantMetrics(t *testing.T, registry *prometheus.Registry, text string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(registry, strings.NewReader(text), names...); err != nil {
		t.Error(err)
	}
}

func TestWaitsAndLeasesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, registry := watched(t, &lockprom.Options{Buckets: []float64{1, 60}})
		m := locks.Mutex("a", nil)
		lease, err := m.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = hold(t, m, 30*time.Second) }()
		synctest.Wait()
		wantMetrics(t, registry, gauges(1, 1), "bedrock_lock_queued", "bedrock_lock_leases")
		time.Sleep(2 * time.Second)
		_ = lease.Unlock(t.Context())
		time.Sleep(time.Minute)
		_, _ = m.Lock(over())

		wantMetrics(t, registry, gauges(0, 0), "bedrock_lock_queued", "bedrock_lock_leases")
		wantMetrics(t, registry, `
# HELP bedrock_lock_acquired_total Locks taken.
# TYPE bedrock_lock_acquired_total counter
bedrock_lock_acquired_total 2
# HELP bedrock_lock_hold_seconds From having a lock to giving it up.
# TYPE bedrock_lock_hold_seconds histogram
bedrock_lock_hold_seconds_bucket{le="1"} 0
bedrock_lock_hold_seconds_bucket{le="60"} 2
bedrock_lock_hold_seconds_bucket{le="+Inf"} 2
bedrock_lock_hold_seconds_sum 32
bedrock_lock_hold_seconds_count 2
# HELP bedrock_lock_wait_seconds From queueing for a lock to having it.
# TYPE bedrock_lock_wait_seconds histogram
bedrock_lock_wait_seconds_bucket{le="1"} 1
bedrock_lock_wait_seconds_bucket{le="60"} 2
bedrock_lock_wait_seconds_bucket{le="+Inf"} 2
bedrock_lock_wait_seconds_sum 2
bedrock_lock_wait_seconds_count 2
`, "bedrock_lock_acquired_total", "bedrock_lock_hold_seconds", "bedrock_lock_wait_seconds")
	})
}

func TestLossesRenewalsAndReasonsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, registry := watched(t, nil)
		if err := hold(t, locks.Mutex("a", nil), 20*time.Second); err != nil { // one renewal
			t.Error(err)
		}
		fixed := locks.Mutex("a", &lock.MutexOptions{Fixed: true, TTL: time.Second})
		if err := hold(t, fixed, 2*time.Second); !errors.Is(err, lock.ErrLost) {
			t.Error(err)
		}
		lease, err := locks.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = locks.Mutex("a", nil).TryLock(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = locks.Mutex("a", nil).Lock(ctx)
		_ = lease.Unlock(t.Context())

		wantMetrics(t, registry, `
# HELP bedrock_lock_left_total Waits and leases ended, by reason.
# TYPE bedrock_lock_left_total counter
bedrock_lock_left_total{reason="failed"} 0
bedrock_lock_left_total{reason="gone"} 1
bedrock_lock_left_total{reason="held"} 1
bedrock_lock_left_total{reason="lost"} 1
bedrock_lock_left_total{reason="unlocked"} 2
# HELP bedrock_lock_lost_total Leases that ended against their holder's will.
# TYPE bedrock_lock_lost_total counter
bedrock_lock_lost_total 1
# HELP bedrock_lock_renewed_total Leases renewed.
# TYPE bedrock_lock_renewed_total counter
bedrock_lock_renewed_total 1
`, "bedrock_lock_left_total", "bedrock_lock_lost_total", "bedrock_lock_renewed_total")
		if n, err := testutil.GatherAndCount(registry, "bedrock_lock_renewal_slack_seconds"); n != 1 || err != nil {
			t.Error(n, err)
		}
	})
}

// What appears with its first event at 1 has not increased for an alert: the first loss
// would be told to nobody.
func TestTheFirstLossIsAnIncrease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, registry := watched(t, nil)
		wantMetrics(t, registry, `
# HELP bedrock_lock_left_total Waits and leases ended, by reason.
# TYPE bedrock_lock_left_total counter
bedrock_lock_left_total{reason="failed"} 0
bedrock_lock_left_total{reason="gone"} 0
bedrock_lock_left_total{reason="held"} 0
bedrock_lock_left_total{reason="lost"} 0
bedrock_lock_left_total{reason="unlocked"} 0
# HELP bedrock_lock_lost_total Leases that ended against their holder's will.
# TYPE bedrock_lock_lost_total counter
bedrock_lock_lost_total 0
`, "bedrock_lock_left_total", "bedrock_lock_lost_total")
		wantMetrics(t, registry, gauges(0, 0), "bedrock_lock_queued", "bedrock_lock_leases")
	})
}

func TestTheFirstLossOfANameIsAnIncrease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, registry := watched(t, &lockprom.Options{NameLabel: strings.ToUpper})
		_ = hold(t, locks.Mutex("a", nil), 0)
		wantMetrics(t, registry, `
# HELP bedrock_lock_lost_total Leases that ended against their holder's will.
# TYPE bedrock_lock_lost_total counter
bedrock_lock_lost_total{name="A"} 0
`, "bedrock_lock_lost_total")
		if n, err := testutil.GatherAndCount(registry, "bedrock_lock_left_total"); n != len(lock.Reasons()) ||
			err != nil {
			t.Error(n, err)
		}
	})
}

// What an event can say is in the list that counters begin with.
// TestRefusalsAreCounted: also where a guard is the only one who tells, and the first is an increase.
func TestRefusalsAreCounted(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	observer, err := lockprom.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := guard.NewMemory(&guard.Options{Observer: observer})
	for n, token := range []uint64{2, 2, 1, 1} {
		wantMetrics(t, registry, fmt.Sprintf(`
# HELP bedrock_lock_refused_total Tokens that a resource refused: somebody went on after a loss.
# TYPE bedrock_lock_refused_total counter
bedrock_lock_refused_total %d
`, max(0, n-2)), "bedrock_lock_refused_total")
		_ = m.Announce(t.Context(), guard.Ticket{Name: "a", Token: token})
	}
}

func TestEveryReasonIsListed(t *testing.T) {
	for _, err := range []error{
		nil, lock.ErrLost, lock.ErrHeld, context.Canceled, context.DeadlineExceeded, errors.New("x"),
	} {
		if reason := (lock.Event{Err: err}).Reason(); !slices.Contains(lock.Reasons(), reason) {
			t.Errorf("%v is %s", err, reason)
		}
	}
}

func TestAThousandNamesAreOneSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, registry := watched(t, nil)
		for i := range 1000 {
			_ = hold(t, locks.Mutex(fmt.Sprint("orders/", i), nil), 0)
		}
		if n, err := testutil.GatherAndCount(registry, "bedrock_lock_acquired_total"); n != 1 || err != nil {
			t.Error(n, err)
		}
	})
}

func TestNameLabelGroupsNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, registry := watched(t, &lockprom.Options{NameLabel: func(name string) string {
			kind, _, _ := strings.Cut(name, "/")
			return kind
		}})
		for _, name := range []string{"orders/1", "orders/2", "users/1"} {
			_ = hold(t, locks.Mutex(name, nil), 0)
		}
		wantMetrics(t, registry, `
# HELP bedrock_lock_acquired_total Locks taken.
# TYPE bedrock_lock_acquired_total counter
bedrock_lock_acquired_total{name="orders"} 2
bedrock_lock_acquired_total{name="users"} 1
`, "bedrock_lock_acquired_total")
	})
}

func TestMetricsFollowTheConventions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, registry := watched(t, nil)
		_ = hold(t, locks.Mutex("a", nil), time.Minute)
		problems, err := testutil.GatherAndLint(registry)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Error(p)
		}
	})
}

func TestASecondRegistrationIsRefusedAndLeavesTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, registry := watched(t, nil)
		if _, err := lockprom.New(registry, nil); err == nil {
			t.Error("registered twice")
		}
		_ = hold(t, locks.Mutex("a", nil), 0)
		if n, err := testutil.GatherAndCount(registry, "bedrock_lock_acquired_total"); n != 1 || err != nil {
			t.Error(n, err)
		}
	})
}

func TestANilRegistererIsRefused(t *testing.T) {
	if _, err := lockprom.New(nil, nil); err == nil {
		t.Error("accepted")
	}
}

// over returns a context that has ended.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func gauges(queued, leases int) string {
	return fmt.Sprintf(`
# HELP bedrock_lock_leases Goroutines that have a lock.
# TYPE bedrock_lock_leases gauge
bedrock_lock_leases %d
# HELP bedrock_lock_queued Goroutines that wait for a lock.
# TYPE bedrock_lock_queued gauge
bedrock_lock_queued %d
`, leases, queued)
}
