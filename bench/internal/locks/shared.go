package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// readWrite is four processes of 16 goroutines that want the same key, 95 of a hundred times to read it; peers, who
// know no readers, have their mutex each time. The times are those of the wait.
func readWrite(quick bool) Workload {
	return Workload{
		Name: "rw-4x16", Unit: "locks/s", Fits: readWriteOrMutex, Full: true,
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 16, Reads: 95, Time: either(quick, 400*time.Millisecond, 2*time.Second)},
		measure: strictly(storms(4, Fairness, ProcFairness, Longest, Violations)),
		work:    storm{shared: true}.runInWorker,
	}
}

// readWriteOrMutex fits locks that many may have to read, and the mutexes of peers.
func readWriteOrMutex(s subject.Subject) bool {
	return s.Kind == subject.ReadWrite || ordinary(s) && s.Role == subject.Peer
}

// semaphore is 64 goroutines of one process that want one of eight permits; the times are those of the wait.
func semaphore(quick bool) Workload {
	return Workload{
		Name: "semaphore-8-64", Unit: "permits/s", Full: true,
		Fits:   func(s subject.Subject) bool { return s.Kind == subject.Permits },
		Rounds: either(quick, 1, 3),
		Job: Job{
			Goroutines: 64, Permits: subject.PermitCount,
			Time: either(quick, 400*time.Millisecond, 2*time.Second),
		},
		measure: strictly(storms(1, Fairness, Longest, Violations)),
		work:    storm{shared: true}.runInWorker,
	}
}
