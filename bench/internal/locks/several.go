package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// several is one goroutine that locks and unlocks one key on several servers
// which nobody else wants, beside the same on one server; the times are those
// of a pair.
func several(quick bool) Workload {
	return Workload{
		Name: "several-1", Unit: "pairs/s", Fits: severalOrOne, Full: true,
		Rounds:  either(quick, 1, 7),
		Job:     Job{Goroutines: 1, Time: either(quick, 150*time.Millisecond, 700*time.Millisecond)},
		measure: storms(1, Allocs),
		work:    storm{pairs: true}.runInWorker,
	}
}

// severalFar is the same where every answer takes a millisecond longer.
// Independent servers work at the same time; on one machine they compete for
// its processors, which matters the less the longer the way is.
func severalFar(quick bool) Workload {
	w := several(quick)
	w.Name, w.Job.Delay = "several-1-far", time.Millisecond
	return w
}

// severalContended is 16 goroutines of one process that want the same key on
// several servers; the times are those of the wait.
func severalContended(quick bool) Workload {
	return Workload{
		Name: "several-16", Unit: "locks/s", Fits: onSeveral, Full: true,
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 16, Time: either(quick, 400*time.Millisecond, 2*time.Second)},
		measure: storms(1, Fairness, Longest, Violations),
		work:    storm{shared: true}.runInWorker,
	}
}

// onSeveral fits subjects whose locks are on several servers.
func onSeveral(s subject.Subject) bool { return s.Servers > 1 }

// severalOrOne fits the same, and the library under test on one server with
// their client.
func severalOrOne(s subject.Subject) bool { return onSeveral(s) || s.Name == "bedrock-goredis" }
