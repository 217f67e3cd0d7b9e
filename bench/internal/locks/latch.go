package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// wakeUp is one process that sets a latch and counts it down, and another one
// that waits for it. The times are those from the call of the count down in one
// to the return of the wait in the other.
func wakeUp(quick bool) Workload {
	return Workload{
		Name: "latch", Unit: "us", Lower: true, Full: true,
		Fits:    func(s subject.Subject) bool { return ordinary(s) && s.Role == subject.Bedrock },
		Rounds:  either(quick, 1, 3),
		Job:     Job{Time: either(quick, 450*time.Millisecond, 2*time.Second)},
		measure: measureLatch,
		work:    workLatch,
	}
}

// The orders a worker with a latch gets.
const (
	orderSet   = "set"
	orderCount = "count"
	orderAwait = "await"
)

var (
	errNoLatches = errors.New("it has no latches")
	errStillSet  = errors.New("it is still set")
)

// workLatch sets, counts down and waits when told, and says when: the moment
// before a count down, the moment after anything else.
func workLatch(ctx context.Context, job Job, w *wire) error {
	ctx, cancel := context.WithTimeout(ctx, job.Time+grace)
	defer cancel()
	locker, err := job.open(ctx)
	if err != nil {
		return err
	}
	latches, ok := locker.(subject.Latches)
	if !ok {
		return fmt.Errorf("%s: %w", job.Subject, errNoLatches)
	}
	l := latches.Latch(job.Key)
	if err := errors.Join(l.Await(ctx), w.writeMessage(ready)); err != nil {
		return err
	}
	err = w.obeyAll(func(order string) (instant, error) { return useLatch(ctx, order, l) })
	return errors.Join(err, locker.Close())
}

// useLatch carries out an order.
func useLatch(ctx context.Context, order string, l subject.Latch) (instant, error) {
	switch order {
	case orderCount:
		at, err := now()
		_, failed := l.CountDown(ctx)
		return at, errors.Join(err, failed)
	case orderSet:
		if set, err := l.Set(ctx, 1); err != nil || !set {
			return 0, errors.Join(err, errStillSet)
		}
	case orderAwait:
		if err := l.Await(ctx); err != nil {
			return 0, fmt.Errorf("await: %w", err)
		}
	}
	return now()
}

// measureLatch opens latches for the time of the job.
func measureLatch(ctx context.Context, m measurement) (Sample, error) {
	workers, err := gather(ctx, m.job, 2)
	if err != nil {
		return nil, err
	}
	defer workers.killAll()
	times := new(stats.Histogram)
	for end := time.Now().Add(m.job.Time); time.Now().Before(end) || times.Total() < 2; {
		took, err := openLatch(ctx, workers[0], workers[1])
		if err != nil {
			return nil, err
		}
		times.Add(took)
	}
	return Sample{
		Value: micros(times.Percentile(0.50)), P50: micros(times.Percentile(0.50)), P99: micros(times.Percentile(0.99)),
		Longest: micros(times.Percentile(1)),
	}, nil
}

// openLatch has one set the latch and count it down, and returns how long that takes to wake the other one.
func openLatch(ctx context.Context, counts, waits *process) (time.Duration, error) {
	if _, err := counts.giveOrder(orderSet); err != nil {
		return 0, err
	}
	if err := waits.writeMessage(orderAwait); err != nil {
		return 0, waits.killWith(err)
	}
	if err := sleepFor(ctx, arrival); err != nil {
		return 0, err
	}
	counted, err := counts.giveOrder(orderCount)
	if err != nil {
		return 0, err
	}
	var woken instant
	if err := waits.readMessage(&woken); err != nil {
		return 0, waits.killWith(err)
	}
	return time.Duration(woken - counted), nil
}
