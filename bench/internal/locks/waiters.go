package locks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/redisd"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// waiters is 1,000 goroutines of one process that wait for a lock another
// client holds. The value is the memory each takes; the commands the server
// executes meanwhile are counted too.
func waiters(quick bool) Workload {
	return Workload{
		Name: "waiters-1000", Unit: "bytes/waiter", Lower: true, Fits: patient,
		Rounds:  either(quick, 1, 2),
		Job:     Job{Goroutines: 1000, Time: either(quick, 300*time.Millisecond, time.Second)},
		measure: measureWaiters,
		work:    workWaiters,
	}
}

// settling is how long the waiters are given to come to rest.
const settling = 200 * time.Millisecond

// measureWaiters lets one worker wait and reads the server's counters.
func measureWaiters(ctx context.Context, m measurement) (Sample, error) {
	worker, err := launch(ctx, m.job)
	if err != nil {
		return nil, err
	}
	defer worker.killProcess()
	monitor, err := redisd.Watch(ctx, m.job.Redis)
	if err != nil {
		return nil, err
	}
	defer monitor.Close()
	rate, err := commandRate(ctx, monitor, m.job.Time)
	if err != nil {
		return nil, err
	}
	var memory float64
	if err := errors.Join(worker.writeMessage(start), worker.readMessage(&memory)); err != nil {
		return nil, worker.killWith(err)
	}
	return Sample{Value: memory, WaiterMemory: memory, Commands: rate}, worker.finish()
}

// commandRate returns how many commands a second the server executes.
func commandRate(ctx context.Context, monitor *redisd.Monitor, window time.Duration) (float64, error) {
	before, err := monitor.Read(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := sleepFor(ctx, window); err != nil {
		return 0, err
	}
	elapsed := time.Since(began)
	after, err := monitor.Read(ctx)
	return float64(after.Since(before).Commands) / elapsed.Seconds(), err
}

// workWaiters holds the lock by one client and waits for it through another.
// What the first waiter needs, such as a connection of its own, is there before
// the memory of the others is measured.
func workWaiters(ctx context.Context, job Job, w *wire) error {
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
	if err := errors.Join(sleepFor(ctx, settling), w.writeMessage(ready), w.readMessage(nil)); err != nil {
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
