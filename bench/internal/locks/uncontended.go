package locks

import "time"

// uncontended is one goroutine that locks and unlocks one key nobody else
// wants; the times are those of a pair.
func uncontended(quick bool) Workload {
	return Workload{
		Name: "uncontended-1", Unit: "pairs/s", Fits: everyone,
		Rounds:  either(quick, 3, 7),
		Job:     Job{Goroutines: 1, Time: either(quick, 200*time.Millisecond, 700*time.Millisecond)},
		measure: storms(1, Allocs),
		work:    storm{pairs: true}.work,
	}
}
