package lockbench

import (
	"context"
	"math"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunMeasures(t *testing.T) {
	t.Run("as they come", func(t *testing.T) { measure(t, false) })
	t.Run("in order", func(t *testing.T) { measure(t, true) })
}

func measure(t *testing.T, fair bool) {
	t.Helper()
	store := memlock.NewStore(nil)
	plan := Plan{Goroutines: 2, Names: []string{"a", "b"}, Duration: time.Hour, Kind: Kind{Fair: fair}}
	for range 2 {
		client, err := memlock.New(store, &lock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Stop(t.Context())
		plan.Clients = append(plan.Clients, client)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	held, err := plan.Clients[0].Mutex("a", &lock.MutexOptions{Fair: fair}).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan Result)
	go func() { ran <- Run(ctx, plan) }()
	info := waitForWaiters(t, plan.Clients[0], "a")
	if inLine := len(info.Line) > 0; inLine != fair {
		t.Errorf("somebody stands in line: %v, want %v", inLine, fair)
	}
	if err := held.Unlock(ctx); err != nil {
		t.Error(err)
	}
	<-time.After(50 * time.Millisecond)
	cancel()
	r := <-ran
	if r.Contenders != 4 || r.Names != 2 || r.Locks == 0 || r.PerSecond <= 0 || r.Errors != 0 || r.Err != nil {
		t.Errorf("unexpected result %+v", r)
	}
	if r.P50 > r.P99 || r.P99 > r.Max || r.Max == 0 {
		t.Errorf("quantiles out of order: %+v", r)
	}
}

// waitForWaiters returns when somebody waits for the lock, which the test holds meanwhile.
func waitForWaiters(t *testing.T, client *lock.Client, name string) lock.Info {
	t.Helper()
	for {
		info, err := client.Inspect(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Waiting > 0 {
			return info
		}
		<-time.After(time.Millisecond)
	}
}

// TestKindsAreMutexes: each is the lock that it is called.
func TestKindsAreMutexes(t *testing.T) {
	for name, c := range map[string]struct {
		kind Kind
		want driver.Kind
		held int
	}{
		"plain": {Kind{}, driver.Mutex, 1}, "fair": {Kind{Fair: true}, driver.Mutex, 1},
		"readers": {Kind{Writes: -1}, driver.ReadWrite, 1}, "writers": {Kind{Writes: 100}, driver.ReadWrite, 1},
		"permits": {Kind{Permits: 3}, driver.Semaphore, 1}, "together": {Kind{Together: 2}, driver.Mutex, 2},
	} {
		client, err := memlock.New(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Stop(t.Context())
		lease, err := c.kind.takerOf(client, []string{"a", "b"}, 3)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		infos, err := client.List(t.Context(), "", 9)
		if err != nil || len(infos) != c.held || infos[len(infos)-1].Name != "b" || infos[0].Kind != c.want {
			t.Errorf("%s: %+v, %v", name, infos, err)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestRunCountsErrors(t *testing.T) {
	client, err := memlock.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := Run(t.Context(), Plan{
		Clients: []*lock.Client{client}, Goroutines: 1, Names: []string{"a"}, Duration: 50 * time.Millisecond,
	})
	if r.Locks != 0 || r.Errors == 0 || r.Err == nil {
		t.Errorf("errors were not counted: %+v", r)
	}
}

// TestServerEndsARequestFirst: one that was told when the time is over may say so a moment before.
func TestServerEndsARequestFirst(t *testing.T) {
	for left, errs := range map[time.Duration]int64{lastMoment / 2: 0, time.Hour: 1} {
		ctx, cancel := context.WithTimeout(t.Context(), left)
		defer cancel()
		c := &contender{}
		if c.countError(ctx, driver.ErrUnavailable); c.errors != errs {
			t.Errorf("%s before the end: %d errors, want %d", left, c.errors, errs)
		}
	}
}

func TestJain(t *testing.T) {
	for _, c := range []struct {
		shares []int64
		want   float64
	}{
		{nil, 1},
		{[]int64{0, 0}, 1},
		{[]int64{5, 5, 5, 5}, 1},
		{[]int64{8, 0, 0, 0}, 0.25},
		{[]int64{3, 1}, 0.8},
	} {
		if got := jain(c.shares); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("jain(%v) = %v, want %v", c.shares, got, c.want)
		}
	}
}
