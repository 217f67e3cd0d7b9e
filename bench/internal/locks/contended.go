package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// contended is 64 goroutines of one process that want the same key; the times
// are those of the wait.
func contended(quick bool) Workload {
	return Workload{
		Name: "contended-64", Unit: "locks/s",
		Stores:  subject.Stores(),
		Fits:    func(s subject.Subject) bool { return patientOrLocal(s) || plainOfJava(s) },
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 64, Time: either(quick, 400*time.Millisecond, 2*time.Second)},
		measure: storms(1, Fairness, Longest, Violations),
		work:    storm{shared: true}.runInWorker,
	}
}
