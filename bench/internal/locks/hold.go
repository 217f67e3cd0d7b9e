package locks

import "time"

// holdOneMillisecond is 64 goroutines of one process that want the same key and keep it for
// a millisecond; the times are those of the wait.
func holdOneMillisecond(quick bool) Workload {
	return Workload{
		Name: "hold-1ms-64", Unit: "locks/s", Fits: patientOrLocal,
		Rounds: either(quick, 1, 3),
		Job: Job{
			Goroutines: 64, Hold: time.Millisecond,
			Time: either(quick, 350*time.Millisecond, 2*time.Second),
		},
		measure: storms(1, Fairness, Longest, Violations),
		work:    storm{shared: true}.runInWorker,
	}
}
