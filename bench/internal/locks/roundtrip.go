package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// roundTrip is a request that asks for nothing, after as long a pause as there is before a hand-off; the times are
// those until it is answered.
func roundTrip(quick bool) Workload {
	return Workload{
		Name: "round-trip", Unit: "requests/s",
		Stores:  []subject.Store{subject.Postgres, subject.MariaDB},
		Fits:    func(s subject.Subject) bool { return s.Role == subject.Ping },
		Rounds:  either(quick, 1, 3),
		Job:     Job{Goroutines: 1, Hold: arrival, Time: either(quick, 450*time.Millisecond, 2*time.Second)},
		measure: storms(1),
		work:    storm{shared: true}.runInWorker,
	}
}
