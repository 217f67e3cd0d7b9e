package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// few is four processes of one goroutine that all want the same key: nothing can be passed on within a process.
func few(quick bool) Workload {
	w := fleet(quick)
	w.Name, w.Job.Goroutines = "contended-4x1", 1
	w.Fits = func(s subject.Subject) bool { return patient(s) && inGo(s) }
	return w
}

// fleet is four processes of 16 goroutines that all want the same key; the
// times are those of the wait.
func fleet(quick bool) Workload {
	return Workload{
		Name: "contended-4x16", Unit: "locks/s",
		Stores:  subject.Stores(),
		Fits:    func(s subject.Subject) bool { return patient(s) || plainOfJava(s) },
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 16, Time: either(quick, 400*time.Millisecond, 2*time.Second)},
		measure: storms(4, Fairness, ProcFairness, Longest),
		work:    storm{shared: true}.runInWorker,
	}
}
