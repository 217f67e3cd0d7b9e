package locks

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// forced is a client that takes a lock away from another one: from the call of the forced release to the end of the
// holder's context. Raw commands take nothing away: they tell what one round trip takes.
func forced(quick bool) Workload {
	return Workload{
		Name: "forced", Unit: "us", Lower: true, Fits: bedrockOrRaw,
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 1, Time: either(quick, 300*time.Millisecond, time.Second)},
		measure: measureRecall,
		work:    workForced,
	}
}

// bedrockOrRaw fits the library under test where nothing lingers, and raw commands.
func bedrockOrRaw(s subject.Subject) bool {
	return ordinary(s) && (s.Role == subject.Bedrock || s.Role == subject.Raw)
}

// workForced opens both clients.
func workForced(ctx context.Context, job Job, w *wire) error {
	holder, err := job.open(ctx)
	if err != nil {
		return err
	}
	other, err := job.open(ctx)
	if err != nil {
		return err
	}
	times := new(stats.Histogram)
	for range warmups {
		if err := forceOnce(ctx, job.Key+"/warm", holder, other, times); err != nil {
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
	for began := time.Now(); sum.Elapsed < job.Time; sum.Elapsed = time.Since(began) {
		key := job.Key + "/" + strconv.FormatUint(sum.Times.Total(), 10)
		if err := forceOnce(ctx, key, holder, other, sum.Times); err != nil {
			return err
		}
	}
	sum.Counts = []int64{int64(sum.Times.Total())}
	if err := w.writeMessage(sum); err != nil {
		return err
	}
	if err := holder.Close(); err != nil {
		return err
	}
	return other.Close()
}

// forceOnce times how long a holder takes to know that its lock was taken away.
func forceOnce(ctx context.Context, key string, holder, other subject.Locker, times *stats.Histogram) error {
	held := holder.Mutex(key)
	mine, ok := held.(subject.Forcible)
	if !ok {
		return pair(ctx, held, times) // one command, which locks, and another one untimed
	}
	theirs := other.Mutex(key).(subject.Forcible)
	if err := held.Lock(ctx); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := mine.AwaitTold(ctx); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	began := time.Now()
	if err := theirs.Force(ctx); err != nil {
		return fmt.Errorf("force: %w", err)
	}
	select {
	case <-mine.Ended():
		times.Add(time.Since(began))
	case <-ctx.Done():
		return fmt.Errorf("it was not told: %w", ctx.Err())
	}
	_ = held.Unlock(ctx) // it is lost
	return nil
}
