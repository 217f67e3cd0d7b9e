package locks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// held is one process that holds very many leases and does nothing else. The
// value is the share of one core that renewing them takes. A quick run holds a
// tenth of the leases, ten times as short, which is as many renewals a second.
func held(quick bool) Workload {
	return Workload{
		Name: "held-100k", Unit: "% of a core", Lower: true,
		Fits:   func(s subject.Subject) bool { return ordinary(s) && s.Role == subject.Bedrock },
		Rounds: 1,
		Job: Job{
			Goroutines: 128,
			Leases:     either(quick, 10_000, 100_000),
			TTL:        either(quick, 3*time.Second, subject.Lease),
			Time:       either(quick, 2*time.Second, 30*time.Second),
		},
		measure: measureHeld,
		work:    workHeld,
	}
}

// measureHeld waits for one worker to do it all.
func measureHeld(ctx context.Context, m measurement) (Sample, error) {
	worker, err := launch(ctx, m.job)
	if err != nil {
		return nil, err
	}
	defer worker.killProcess()
	var sample Sample
	if err := errors.Join(worker.writeMessage(start), worker.readMessage(&sample)); err != nil {
		return nil, worker.killWith(err)
	}
	return sample, worker.finish()
}

// workHeld acquires all leases, watches them and lets them go.
func workHeld(ctx context.Context, job Job, w *wire) error {
	locker, err := job.open(ctx)
	if err != nil {
		return err
	}
	if err := warm(ctx, job.Goroutines, job.Key, locker); err != nil {
		return err
	}
	before := runtime.NumGoroutine()
	mutexes, err := hoard(ctx, locker, job)
	if err != nil {
		return err
	}
	if err := errors.Join(w.writeMessage(ready), w.readMessage(nil)); err != nil {
		return err
	}
	share, goroutines, err := watchIdle(ctx, job.Time)
	if err != nil {
		return err
	}
	missing := lost(mutexes)
	return errors.Join(locker.Close(), w.writeMessage(Sample{
		Value: share, Lost: float64(missing), Leases: float64(job.Leases),
		Goroutines: goroutines, Growth: goroutines - float64(before),
	}))
}

// hoard acquires the job's leases, many at a time.
func hoard(ctx context.Context, locker subject.Locker, job Job) ([]subject.Mutex, error) {
	mutexes := make([]subject.Mutex, job.Leases)
	err := together(job.Goroutines, func(i int) error {
		for n := i; n < len(mutexes); n += job.Goroutines {
			mutexes[n] = locker.Mutex(job.Key + "/" + strconv.Itoa(n))
			if err := mutexes[n].Lock(ctx); err != nil {
				return fmt.Errorf("acquire lease %d of %d: %w", n, job.Leases, err)
			}
		}
		return nil
	})
	return mutexes, err
}

// lost counts the mutexes that are no longer held.
func lost(mutexes []subject.Mutex) (count int) {
	for _, m := range mutexes {
		if lasting, ok := m.(subject.Lasting); ok && !lasting.Held() {
			count++
		}
	}
	return count
}

// watchIdle returns the share of one core, in percent, that this process uses, and
// how many goroutines it usually has: a renewal under way has a few more.
func watchIdle(ctx context.Context, window time.Duration) (share, goroutines float64, err error) {
	before, err := cpuTime()
	if err != nil {
		return 0, 0, err
	}
	var counts []float64
	began := time.Now()
	for time.Since(began) < window {
		if err := sleepFor(ctx, 50*time.Millisecond); err != nil {
			return 0, 0, err
		}
		counts = append(counts, float64(runtime.NumGoroutine()))
	}
	elapsed := time.Since(began)
	after, err := cpuTime()
	return 100 * float64(after-before) / float64(elapsed), stats.Median(counts), err
}

// cpuTime returns the processor time this process has used.
func cpuTime() (time.Duration, error) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
