package coordprom_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/coordprom"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// counting is a store that can be counted or not, as the test likes.
type counting struct {
	counts driver.Counts
	err    error
}

func (c *counting) Count(context.Context) (driver.Counts, error) { return c.counts, c.err }

func observer(t *testing.T, opts *coordprom.Options) (coord.Observer, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	o, err := coordprom.New(registry, opts)
	if err != nil {
		t.Fatal(err)
	}
	return o, registry
}

func wantMetrics(t *testing.T, registry *prometheus.Registry, text string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(registry, strings.NewReader(text), names...); err != nil {
		t.Error(err)
	}
}

// wantCounts compares the series of a metric that are not zero. They are called by the
// values of their labels, in the order of the labels' names.
func wantCounts(t *testing.T, registry *prometheus.Registry, name string, want map[string]float64) {
	t.Helper()
	got := series(t, registry, name)
	maps.DeleteFunc(got, func(_ string, value float64) bool { return value == 0 })
	if !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// series reads all counters or gauges of one name.
func series(t *testing.T, registry *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]float64)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			found[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return found
}

func saga(id string) txn.Definition {
	return txn.Definition{ID: id, Mode: "saga", Name: "order", Branches: []txn.Branch{
		{ID: "stock", Do: "deduct", Undo: "restore"},
		{ID: "pay", Do: "charge", Undo: "refund", After: []string{"stock"}},
	}}
}

// run drives two sagas, of which the second is refused, and returns what became of
// the metrics.
func run(t *testing.T, opts *coordprom.Options) *prometheus.Registry {
	t.Helper()
	store := memstore.New(nil)
	opts.Store = store
	o, registry := observer(t, opts)
	co, err := coord.New(store, &coord.Options{Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deduct", "restore", "refund"} {
		if err := co.Register(name, func(context.Context, txn.Call) ([]byte, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
	}
	charge := func(_ context.Context, call txn.Call) ([]byte, error) {
		if call.Transaction == "poor" {
			return nil, txn.Abort(errors.New("no money"))
		}
		return nil, nil
	}
	if err := errors.Join(co.Register("charge", charge), co.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	_, richErr := co.Run(t.Context(), saga("rich"))
	_, poorErr := co.Run(t.Context(), saga("poor"))
	_, rolledBack := errors.AsType[*txn.RolledBackError](poorErr)
	if richErr != nil || !rolledBack {
		t.Error(richErr, poorErr)
	}
	if err := co.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	return registry
}

func TestTransactionsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := run(t, &coordprom.Options{})
		wantCounts(t, registry, "bedrock_txn_attempts_total", map[string]float64{
			"done saga action": 3, "done saga compensate": 1, "refused saga action": 1,
		})
		wantCounts(t, registry, "bedrock_txn_finished_total",
			map[string]float64{"saga committed": 1, "saga rolled-back": 1})
		wantCounts(t, registry, "bedrock_txn_submitted_total", map[string]float64{"saga": 2})
		wantCounts(t, registry, "bedrock_txn_transactions", map[string]float64{"committed": 1, "rolled-back": 1})
		wantCounts(t, registry, "bedrock_txn_store_up", map[string]float64{"": 1})
		for _, name := range []string{"bedrock_txn_duration_seconds", "bedrock_txn_attempt_seconds"} {
			if n, err := testutil.GatherAndCount(registry, name); n != 2 || err != nil {
				t.Error(name, n, err)
			}
		}
	})
}

func TestNamesAreALabelOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := run(t, &coordprom.Options{NameLabel: strings.ToUpper})
		wantMetrics(t, registry, `
# HELP bedrock_txn_submitted_total Transactions accepted.
# TYPE bedrock_txn_submitted_total counter
bedrock_txn_submitted_total{mode="saga",name="ORDER"} 2
`, "bedrock_txn_submitted_total")
		if parked, ok := series(t, registry, "bedrock_txn_parked_total")["saga ORDER"]; !ok || parked != 0 {
			t.Error("parked does not begin at zero:", parked, ok)
		}
	})
}

// What appears with its first event at 1 has not increased for an alert: the first
// parked transaction would be told to nobody.
func TestTheFirstEventIsAnIncrease(t *testing.T) {
	_, registry := observer(t, nil)
	for name, want := range map[string]int{
		"bedrock_txn_submitted_total": 3, "bedrock_txn_finished_total": 9, "bedrock_txn_parked_total": 3,
		"bedrock_txn_attempts_total": 13 * 6, "bedrock_txn_fenced_total": 1,
	} {
		if got := series(t, registry, name); len(got) != want {
			t.Errorf("%s: %d series, want %d: %v", name, len(got), want, got)
		}
		wantCounts(t, registry, name, nil)
	}
}

// An empty label is worse than none: sums by name would have a row of nothing.
func TestThereIsNoNameUnlessItIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		families, err := run(t, &coordprom.Options{}).Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, l := range f.GetMetric()[0].GetLabel() {
				if l.GetName() == "name" {
					t.Error(f.GetName(), "has a name:", l.GetValue())
				}
			}
		}
	})
}

// Every kind is counted somewhere, and nothing makes a series per transaction.
func TestEventsMakeFewSeries(t *testing.T) {
	o, registry := observer(t, nil)
	kinds := []coord.EventKind{
		coord.EventSubmitted, coord.EventDecided, coord.EventFinished, coord.EventParked, coord.EventCalled,
		coord.EventClaimed, coord.EventFenced,
		coord.EventBreakerOpened, coord.EventBreakerOpened, coord.EventBreakerClosed, coord.EventRemoved,
	}
	for i := range 100 {
		unique := fmt.Sprint(i)
		for _, kind := range kinds {
			o.Observe(t.Context(), coord.Event{
				Kind: kind, ID: unique, Mode: "saga", Name: unique, Branch: unique, Op: "action",
				Target: txn.Target(unique), Answer: "failed", Took: time.Second, Count: 3, Reason: unique,
			})
		}
	}
	wantMetrics(t, registry, `
# HELP bedrock_txn_breaker_open Targets held to be down.
# TYPE bedrock_txn_breaker_open gauge
bedrock_txn_breaker_open 100
# HELP bedrock_txn_claimed_total Transactions taken over, or taken up again.
# TYPE bedrock_txn_claimed_total counter
bedrock_txn_claimed_total 300
# HELP bedrock_txn_fenced_total Transactions that another coordinator took away.
# TYPE bedrock_txn_fenced_total counter
bedrock_txn_fenced_total 100
# HELP bedrock_txn_removed_total Final transactions deleted.
# TYPE bedrock_txn_removed_total counter
bedrock_txn_removed_total 300
`, "bedrock_txn_breaker_open", "bedrock_txn_claimed_total", "bedrock_txn_fenced_total",
		"bedrock_txn_removed_total")
	wantCounts(t, registry, "bedrock_txn_parked_total", map[string]float64{"saga": 100})
	n, err := testutil.GatherAndCount(registry)
	if err != nil || n > 100 {
		t.Error(n, err)
	}
}

func TestTheBacklogIsTheStores(t *testing.T) {
	store := &counting{counts: driver.Counts{
		ByStatus: map[driver.Status]int{driver.Running: 7}, Parked: 2, Due: 5, Oldest: time.Now().Add(-time.Hour),
	}}
	_, registry := observer(t, &coordprom.Options{Store: store})
	wantMetrics(t, registry, `
# HELP bedrock_txn_due Transactions that could be driven and are not.
# TYPE bedrock_txn_due gauge
bedrock_txn_due 5
# HELP bedrock_txn_parked Transactions that wait for a person.
# TYPE bedrock_txn_parked gauge
bedrock_txn_parked 2
`, "bedrock_txn_due", "bedrock_txn_parked")
	wantCounts(t, registry, "bedrock_txn_transactions", map[string]float64{"running": 7})
	if age := value(t, registry, "bedrock_txn_oldest_age_seconds"); age < 3600 || age > 3700 {
		t.Error(age)
	}
	store.counts.Oldest = time.Time{}
	if age := value(t, registry, "bedrock_txn_oldest_age_seconds"); age != 0 {
		t.Error(age)
	}
}

func value(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no", name)
	return 0
}

func TestAStoreThatDoesNotAnswerTakesNothingWithIt(t *testing.T) {
	o, registry := observer(t, &coordprom.Options{Store: &counting{err: errors.New("gone")}})
	o.Observe(t.Context(), coord.Event{Kind: coord.EventFenced})
	wantMetrics(t, registry, `
# HELP bedrock_txn_fenced_total Transactions that another coordinator took away.
# TYPE bedrock_txn_fenced_total counter
bedrock_txn_fenced_total 1
# HELP bedrock_txn_store_up Whether the store could be counted, and does what it is asked.
# TYPE bedrock_txn_store_up gauge
bedrock_txn_store_up 0
`, "bedrock_txn_fenced_total", "bedrock_txn_store_up", "bedrock_txn_due")
}

// TestAStoreThatCannotWriteIsNotUp although it can be counted.
func TestAStoreThatCannotWriteIsNotUp(t *testing.T) {
	trouble := errors.New("disk is full")
	_, registry := observer(t, &coordprom.Options{
		Store: &counting{counts: driver.Counts{Due: 3}}, Trouble: func() error { return trouble },
	})
	if up, told := series(t, registry, "bedrock_txn_store_up")[""]; up != 0 || !told {
		t.Error("up:", up, told)
	}
	wantCounts(t, registry, "bedrock_txn_due", map[string]float64{"": 3})
	trouble = nil
	wantCounts(t, registry, "bedrock_txn_store_up", map[string]float64{"": 1})
}

func TestMetricsFollowTheConventions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		problems, err := testutil.GatherAndLint(run(t, &coordprom.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Error(p)
		}
	})
}

func TestASecondRegistrationIsRefusedAndLeavesTheFirst(t *testing.T) {
	o, registry := observer(t, nil)
	if _, err := coordprom.New(registry, nil); err == nil {
		t.Error("registered twice")
	}
	o.Observe(t.Context(), coord.Event{Kind: coord.EventFenced})
	if n, err := testutil.GatherAndCount(registry, "bedrock_txn_fenced_total"); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, err := coordprom.New(nil, nil); err == nil {
		t.Error("a nil registerer was accepted")
	}
}
