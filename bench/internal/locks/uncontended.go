package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// uncontended is one goroutine that locks and unlocks one key nobody else
// wants; the times are those of a pair.
func uncontended(quick bool) Workload {
	return Workload{
		Name: "uncontended-1", Unit: "pairs/s", Fits: everyoneAndLingering,
		Stores: subject.Stores(),
		Rounds: either(quick, 3, 7),
		Job: Job{
			Goroutines: 1, Place: apart,
			Time: either(quick, 150*time.Millisecond, 400*time.Millisecond),
		},
		measure: storms(1, Allocs, ServerTime),
		work:    storm{pairs: true}.runInWorker,
	}
}

// uncontendedShared is the same while client and server share a processor.
func uncontendedShared(quick bool) Workload {
	w := uncontended(quick)
	w.Name, w.Stores, w.Job.Place = "uncontended-1-shared", nil, sharing
	w.Rounds = either(quick, 2, w.Rounds)
	return w
}
