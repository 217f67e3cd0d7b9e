package locks

import (
	"context"
	"errors"
	"time"
)

// fairFleet is four processes of 16 goroutines that all want the same key, and are served in the order in which they
// came; the times are those of the wait.
func fairFleet(quick bool) Workload {
	return Workload{
		Name: "fair-4x16", Unit: "locks/s", Fits: fairOnes,
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 16, Time: either(quick, 400*time.Millisecond, 2*time.Second)},
		measure: storms(4, Fairness, ProcFairness, Longest, Violations),
		work:    storm{shared: true}.runInWorker,
	}
}

// fairOrder is the same, watched: how many were served before somebody who had come earlier. Watching takes time, so
// that it is a workload of its own.
func fairOrder(quick bool) Workload {
	w := fairFleet(quick)
	w.Name, w.Unit, w.Lower, w.Rounds, w.measure = "fair-4x16-order", "out of turn", true, 1, measureOrder
	return w
}

// measureOrder has the storm, and follows on the server who comes and who is served.
func measureOrder(ctx context.Context, m measurement) (Sample, error) {
	workers, err := gather(ctx, m.job, 4)
	if err != nil {
		return nil, err
	}
	defer workers.killAll()
	watch, err := watchLine(ctx, m.job.Addr, m.job.Key)
	if err != nil {
		return nil, err
	}
	defer watch.close()
	if _, err := workers.storm(); err != nil {
		return nil, err
	}
	seen, err := watch.endWatch(ctx)
	if err != nil {
		return nil, err
	}
	if seen.fromLine == 0 {
		return nil, errors.New("nobody was seen who was served in line")
	}
	return Sample{Value: float64(seen.outOfTurn), Leases: float64(seen.served)}, nil
}
