package locks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/redisd"
	"github.com/bedrock-go/bedrock/bench/internal/stats"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// storms measures a storm in the given number of processes at once and keeps
// the given metrics beside the rate and its times.
func storms(processes int, keep ...Metric) method {
	return func(ctx context.Context, m measurement) (Sample, error) {
		workers, err := gather(ctx, m.job, processes)
		if err != nil {
			return nil, err
		}
		defer workers.killAll()
		var tallies []tally
		storm := func() (err error) { tallies, err = workers.storm(); return err }
		told := slices.Contains(keep, ServerTime) && m.subject.Store == subject.Redis // others do not tell
		spent, err := executing(ctx, m, told, storm)
		if err != nil {
			return nil, err
		}
		sample := summarize(tallies)
		if told {
			sample[ServerTime] = float64(spent) / sample[Leases]
		}
		return sample.only(append(keep, Value, P50, P99)), nil
	}
}

// executing runs do and returns for how many µs the server executed the subject's commands meanwhile, 0 where nobody
// wants to know: not every subject has a server.
func executing(ctx context.Context, m measurement, wanted bool, do func() error) (micros int64, err error) {
	if !wanted {
		return 0, do()
	}
	monitor, err := redisd.Watch(ctx, m.job.Addr)
	if err != nil {
		return 0, err
	}
	defer monitor.Close()
	before, err := monitor.Read(ctx)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := monitor.Read(ctx)
	return after.Since(before).Executing(m.subject.Plain...), err
}

// storm starts all workers at once and collects their tallies.
func (c crew) storm() ([]tally, error) {
	for _, p := range c {
		if err := p.writeMessage(start); err != nil {
			return nil, p.killWith(err)
		}
	}
	tallies := make([]tally, len(c))
	for i, p := range c {
		if err := p.readMessage(&tallies[i]); err != nil {
			return nil, p.killWith(err)
		}
	}
	var errs []error
	for _, p := range c {
		errs = append(errs, p.finish())
	}
	return tallies, errors.Join(errs...)
}

// summarize turns the tallies of one measurement into numbers.
func summarize(tallies []tally) Sample {
	var (
		shares, perProcess []int64
		times              stats.Histogram
		mallocs            uint64
		violations, total  int64
		elapsed            time.Duration
	)
	for _, t := range tallies {
		shares = append(shares, t.Counts...)
		perProcess = append(perProcess, totalOf(t.Counts))
		times.Merge(t.Times)
		mallocs += t.Mallocs
		violations += t.Violations
		elapsed = max(elapsed, t.Elapsed)
		total += totalOf(t.Counts)
	}
	return Sample{
		Value:        float64(total) / elapsed.Seconds(),
		P50:          micros(times.Percentile(0.50)),
		P99:          micros(times.Percentile(0.99)),
		Longest:      micros(times.Percentile(1)),
		Fairness:     stats.Jain(shares),
		ProcFairness: stats.Jain(perProcess),
		Spread:       spreadOf(perProcess),
		Allocs:       float64(mallocs) / float64(max(total, 1)),
		Violations:   float64(violations),
		Leases:       float64(max(total, 1)),
	}
}

// only returns the given metrics of s, those that it has.
func (s Sample) only(metrics []Metric) Sample {
	kept := make(Sample, len(metrics))
	for _, m := range metrics {
		if v, found := s[m]; found {
			kept[m] = v
		}
	}
	return kept
}

// spreadOf returns how many times the least share the greatest one is.
func spreadOf(shares []int64) float64 {
	return float64(slices.Max(shares)) / float64(max(slices.Min(shares), 1))
}

func totalOf(counts []int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}

// micros returns d in microseconds.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
