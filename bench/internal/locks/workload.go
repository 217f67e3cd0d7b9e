package locks

import (
	"context"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// Workload is one thing to do with a lock.
type Workload struct {
	// Name is how reports call it.
	Name string
	// Unit is the unit of its value.
	Unit string
	// Lower says that a lower value is better.
	Lower bool
	// Stores are where it is measured, Redis alone if there are none.
	Stores []subject.Store
	// Fits reports whether a subject can be measured so.
	Fits func(subject.Subject) bool
	// Full says that a quick run leaves it out unless it is asked for.
	Full bool
	// Rounds is how often each subject is measured.
	Rounds int
	// Job is what the workers are told, subject and server left out.
	Job Job

	measure method
	work    func(context.Context, Job, *wire) error
}

// Job tells a worker what to do.
type Job struct {
	Workload string
	Subject  string
	// Addr is where the store's server is.
	Addr string
	// More are the addresses of further servers, for subjects that need several.
	More []string
	// Delay is how much longer every answer takes.
	Delay time.Duration
	// Key is the lock's name, used by no other measurement.
	Key string
	// Names is how many names there are to choose from each time, 0 for the key alone.
	Names int
	// Goroutines is how many goroutines compete in the worker.
	Goroutines int
	// Reads is how many of a hundred locks are only to read, where the subject knows that.
	Reads int
	// Permits is how many may be inside at once, 0 for one.
	Permits int
	// Room is the file of the word that says who is inside, see [room]; empty where each worker has its own.
	Room string
	// Hold is how long each keeps the lock.
	Hold time.Duration
	// Time is how long to measure.
	Time time.Duration
	// Leases is how many leases to hold at once.
	Leases int
	// TTL is how long leases live without renewal, 0 for [subject.Lease].
	TTL time.Duration
	// Place is where the worker and the server run.
	Place placement
	// ServerProcess is the server's process id, 0 if it is not ours.
	ServerProcess int
	// Profile is the file for a CPU profile, empty for none.
	Profile string
}

// Sample is what one measurement found, by metric.
type Sample map[Metric]float64

// Metric names a number in a [Sample].
type Metric string

// The metrics. A sample has those that mean something for its workload.
const (
	Value        Metric = "value"
	P50          Metric = "p50_us"
	P99          Metric = "p99_us"
	Longest      Metric = "max_us"
	Fairness     Metric = "jain"
	ProcFairness Metric = "jain_processes"
	Spread       Metric = "share_spread"
	Allocs       Metric = "allocs_per_op"
	Commands     Metric = "commands"
	WaiterMemory Metric = "bytes_per_waiter"
	RoundTrips   Metric = "round_trips"
	Lost         Metric = "lost"
	Goroutines   Metric = "goroutines"
	Growth       Metric = "goroutines_added"
	Violations   Metric = "violations"
	Handoffs     Metric = "handoffs"
	ServerTime   Metric = "server_us"
	Leases       Metric = "leases"
)

// measurement is one measurement of one subject.
type measurement struct {
	job     Job
	subject subject.Subject
}

// Workloads returns all workloads at the given scale, in the order of the
// reports.
func Workloads(quick bool) []Workload {
	return []Workload{
		uncontended(quick),
		uncontendedShared(quick),
		ownKeys(quick),
		contended(quick),
		fleet(quick),
		few(quick),
		fairFleet(quick),
		fairOrder(quick),
		waiters(quick),
		handoff(quick),
		recall(quick),
		forced(quick),
		holdOneMillisecond(quick),
		held(quick),
		readWrite(quick),
		semaphore(quick),
		twoNames(quick),
		campaign(quick),
		wakeUp(quick),
		several(quick),
		severalFar(quick),
		severalContended(quick),
		roundTrip(quick),
		fileNames(quick),
	}
}

// isFor reports whether it is measured on a store.
func (w Workload) isFor(store subject.Store) bool {
	return slices.Contains(w.Stores, store) || len(w.Stores) == 0 && store == subject.Redis
}

// find returns the workload called name.
func find(name string) (Workload, bool) {
	for _, w := range Workloads(false) {
		if w.Name == name {
			return w, true
		}
	}
	return Workload{}, false
}

// either returns one if is, which mostly says that the run is a quick one, and the other if not.
func either[T any](is bool, one, other T) T {
	if is {
		return one
	}
	return other
}

// ordinary fits those on one server whose waiters are served in no order.
func ordinary(s subject.Subject) bool { return s.Kind == subject.Plain && s.Servers <= 1 }

// everyone fits all subjects that go through a store and do not differ by
// waiting alone.
func everyone(s subject.Subject) bool {
	return inGo(s) && !s.Tuned && (s.Role == subject.Bedrock || s.Role == subject.Peer || s.Role == subject.Raw)
}

// inGo fits the ordinary ones whose worker is this program, which knows all workloads.
func inGo(s subject.Subject) bool { return ordinary(s) && s.Program == nil }

// everyoneAndLingering fits the same and those whose locks linger.
func everyoneAndLingering(s subject.Subject) bool { return everyone(s) || s.Role == subject.Lingering }

// patient fits all subjects that can wait for a distributed lock.
func patient(s subject.Subject) bool {
	return ordinary(s) && (s.Role == subject.Bedrock || s.Role == subject.Peer)
}

// fairOnes fits those whose waiters are served in order.
func fairOnes(s subject.Subject) bool { return s.Kind == subject.Fair }

// patientOrMessage fits the same and the fewest messages.
func patientOrMessage(s subject.Subject) bool { return patient(s) || s.Role == subject.Message }

// patientOrLocal fits the same and the local floor.
func patientOrLocal(s subject.Subject) bool { return patient(s) || s.Role == subject.Local }

// plainOfJava fits Redisson's plain mutex.
func plainOfJava(s subject.Subject) bool { return s.Role == subject.Java && s.Kind == subject.Plain }
