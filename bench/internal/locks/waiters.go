package locks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stores"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// waiters is 1,000 goroutines of one process that wait for a lock another
// client holds. The value is the memory each takes; the commands the server
// executes meanwhile are counted too.
func waiters(quick bool) Workload {
	return Workload{
		Name: "waiters-1000", Unit: "bytes/waiter", Lower: true, Fits: patientTogether,
		Stores:  subject.Stores(),
		Rounds:  either(quick, 1, 2),
		Job:     Job{Goroutines: 1000, Time: either(quick, 300*time.Millisecond, time.Second)},
		measure: measureWaiters,
		work:    workWaiters,
	}
}

// settling is how long the first waiter is given to come to rest.
const settling = 200 * time.Millisecond

// restOn returns how long the waiters are given to come to rest, and the counters of the server: in PostgreSQL a
// session that does nothing tells what it has done 10 s later.
func restOn(store subject.Store) time.Duration {
	switch store {
	case subject.Redis:
		return 200 * time.Millisecond
	case subject.Postgres:
		return 11 * time.Second
	default:
		return time.Second
	}
}

// measureWaiters lets one worker wait and reads the server's counters.
func measureWaiters(ctx context.Context, m measurement) (Sample, error) {
	worker, err := launch(ctx, m.job)
	if err != nil {
		return nil, err
	}
	defer worker.killProcess()
	sample, err := watchServer(ctx, m)
	if err != nil {
		return nil, err
	}
	var memory float64
	if err := errors.Join(worker.writeMessage(start), worker.readMessage(&memory)); err != nil {
		return nil, worker.killWith(err)
	}
	sample[Value], sample[WaiterMemory] = memory, memory
	return sample, worker.finish()
}

// watchServer returns what the server tells of those who wait, if it tells.
func watchServer(ctx context.Context, m measurement) (Sample, error) {
	meter, err := stores.OpenMeter(ctx, m.subject.Store, m.job.Addr)
	if errors.Is(err, stores.ErrTellsNothing) {
		return Sample{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer meter.Close()
	before, err := meter.Requests(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := sleepFor(ctx, m.job.Time); err != nil {
		return nil, err
	}
	elapsed := time.Since(began)
	after, err := meter.Requests(ctx)
	// A server that is late to tell of the meter itself seems to have had less than nothing.
	return Sample{Commands: float64(max(after-before, 0)) / elapsed.Seconds()}, err
}

// patientTogether fits those who can wait, a thousand of them, for a distributed lock.
func patientTogether(s subject.Subject) bool { return patient(s) && inGo(s) && !s.Pinned }

// workWaiters holds the lock by one client and waits for it through another.
// What the first waiter needs, such as a connection of its own, is there before
// the memory of the others is measured.
func workWaiters(ctx context.Context, job Job, w *wire) error {
	s, _ := subject.Find(job.Subject)
	holder, err := job.open(ctx)
	if err != nil {
		return err
	}
	if err := holder.Mutex(job.Key).Lock(ctx); err != nil {
		return fmt.Errorf("hold: %w", err)
	}
	locker, err := job.open(ctx)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	crowd(waiting, locker, job.Key, 1)
	if err := sleepFor(ctx, settling); err != nil {
		return err
	}
	before := footprint()
	crowd(waiting, locker, job.Key, job.Goroutines)
	if err := errors.Join(sleepFor(ctx, restOn(s.Store)), w.writeMessage(ready), w.readMessage(nil)); err != nil {
		return err
	}
	each := (footprint() - before) / float64(job.Goroutines)
	return w.writeMessage(each)
}

// crowd lets n goroutines wait for key until ctx or the process ends. They are
// plain ones, because whatever else is on their stacks would be measured too.
func crowd(ctx context.Context, locker subject.Locker, key string, n int) {
	for range n {
		mutex := locker.Mutex(key)
		go func() { _ = mutex.Lock(ctx) }()
	}
}

// footprint returns the bytes of live heap and goroutine stacks.
func footprint() float64 {
	// The second collection returns what finalizers and pools kept in the first.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// sleepFor waits for d or until ctx ends.
func sleepFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
