package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// ownKeys is 64 goroutines with a key each; the times are those of a pair.
func ownKeys(quick bool) Workload {
	return Workload{
		Name: "own-keys-64", Unit: "pairs/s", Fits: everyone,
		Stores:  subject.Stores(),
		Rounds:  either(quick, 1, 5),
		Job:     Job{Goroutines: 64, Time: either(quick, 250*time.Millisecond, 700*time.Millisecond)},
		measure: storms(1, Allocs, Fairness, ServerTime),
		work:    storm{pairs: true}.runInWorker,
	}
}
