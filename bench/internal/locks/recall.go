package locks

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// recall is a client that wants a lock another one has just had, and had time and again: it may
// linger there. The times are those of the wait.
func recall(quick bool) Workload {
	return Workload{
		Name: "recall", Unit: "us", Lower: true, Fits: bedrocks,
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 1, Time: either(quick, 300*time.Millisecond, time.Second)},
		measure: measureRecall,
		work:    workRecall,
	}
}

// bedrocks fits the library under test.
func bedrocks(s subject.Subject) bool {
	return ordinary(s) && (s.Role == subject.Bedrock || s.Role == subject.Lingering)
}

// measureRecall has one worker do it all.
func measureRecall(ctx context.Context, m measurement) (Sample, error) {
	workers, err := gather(ctx, m.job, 1)
	if err != nil {
		return nil, err
	}
	defer workers.killAll()
	tallies, err := workers.storm()
	if err != nil {
		return nil, err
	}
	sample := summarize(tallies)
	sample[Value] = sample[P50]
	return sample.only([]Metric{Value, P50, P99, Longest}), nil
}

// workRecall opens both clients.
func workRecall(ctx context.Context, job Job, w *wire) error {
	one, err := job.open(ctx)
	if err != nil {
		return err
	}
	other, err := job.open(ctx)
	if err != nil {
		return err
	}
	for _, locker := range []subject.Locker{one, other} {
		if err := warm(ctx, 1, job.Key, locker); err != nil {
			return err
		}
	}
	if err := w.writeMessage(ready); err != nil {
		return err
	}
	if err := w.readMessage(nil); err != nil {
		return err
	}
	sum := &tally{Times: new(stats.Histogram)}
	began := time.Now()
	for sum.Elapsed < job.Time {
		key := job.Key + "/" + strconv.FormatUint(sum.Times.Total(), 10)
		if err := recallOnce(ctx, key, one, other, sum.Times); err != nil {
			return err
		}
		sum.Elapsed = time.Since(began)
	}
	sum.Counts = []int64{int64(sum.Times.Total())}
	if err := w.writeMessage(sum); err != nil {
		return err
	}
	if err := one.Close(); err != nil {
		return err
	}
	return other.Close()
}

// recallOnce has one use a lock until it lingers, and times the other one's wait.
func recallOnce(ctx context.Context, key string, one, other subject.Locker, times *stats.Histogram) error {
	first, second := one.Mutex(key), other.Mutex(key)
	for range warmups {
		if err := pair(ctx, first, nil); err != nil {
			return err
		}
	}
	return pair(ctx, second, times)
}

// pair locks and unlocks, and may time the wait.
func pair(ctx context.Context, m subject.Mutex, times *stats.Histogram) error {
	began := time.Now()
	if err := m.Lock(ctx); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if times != nil {
		times.Add(time.Since(began))
	}
	if err := m.Unlock(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	return nil
}
