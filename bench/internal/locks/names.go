package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// fileNames is four processes of one goroutine that have one of 50 names each time, at random: none of them may have
// less than the others, although they share one file. The times are those of the wait.
func fileNames(quick bool) Workload {
	return Workload{
		Name: "file-4x50", Unit: "locks/s", Fits: patient,
		Stores:  []subject.Store{subject.SQLite},
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 1, Names: 50, Time: either(quick, 2*time.Second, 5*time.Second)},
		measure: storms(4, Spread, ProcFairness, Longest),
		work:    storm{shared: true}.runInWorker,
	}
}
