package txns

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
)

// Workload is one thing to do with a subject.
type Workload struct {
	// Name is how reports call it.
	Name string
	// Unit is the unit of its value.
	Unit string
	// Rounds is how often each subject is measured.
	Rounds int

	fits    func(Subject) bool
	measure func(ctx context.Context, m measurement) (Sample, error)
	// longest bounds one measurement.
	longest time.Duration
}

// measurement is one measurement of one subject.
type measurement struct {
	bed     *bed
	subject Subject
	// profile is the file for a CPU profile of the coordinator, empty for none.
	profile string
	pace    pace
}

// pace is how long things take.
type pace struct {
	// warm is how long clients run before it counts, length for how long it does.
	warm, length time.Duration
	// hold is how long participants stay down once all is submitted.
	hold time.Duration
	// rounds is how often each subject is measured.
	rounds int
	// many stands for 100,000 transactions.
	many int
}

func paces(quick bool) pace {
	if quick {
		return pace{
			warm: 200 * time.Millisecond, length: 700 * time.Millisecond,
			hold: 2 * time.Second, rounds: 1, many: 5_000,
		}
	}
	return pace{warm: time.Second, length: 3 * time.Second, hold: 30 * time.Second, rounds: 3, many: 100_000}
}

// Sample is what one measurement found, by metric.
type Sample map[Metric]float64

// Metric names a number in a [Sample].
type Metric string

// The metrics. A sample has those that mean something for its workload.
const (
	Value Metric = "value"
	P50   Metric = "p50_us"
	P99   Metric = "p99_us"
	// CPU and StoreCPU are processor seconds for 1,000 transactions: of the
	// coordinators, and of the server of their store.
	CPU      Metric = "cpu_s_per_1000"
	StoreCPU Metric = "store_cpu_s_per_1000"
	// FirstCall is how many seconds after the end of an outage participants were
	// called.
	FirstCall Metric = "first_call_s"
	// Transactions is how many there were.
	Transactions Metric = "transactions"
	// Calls is how many calls the participants got for each transaction.
	Calls Metric = "calls_per_transaction"
	// Normal is the rate without those that hang.
	Normal Metric = "normal_per_s"
	// Others is how much of the machine was used, in percent, by processes that have
	// no part in the measurement: with more than a few, the figures mean little.
	Others Metric = "others_percent"
	// Healthy is the rate beside those that hang.
	Healthy Metric = "healthy_per_s"
)

// patience is added to what a measurement should take.
const patience = time.Minute

// Workloads returns all workloads at the given scale, in the order of the reports.
func Workloads(quick bool) []Workload { return workloads(paces(quick)) }

func workloads(p pace) []Workload {
	list := []Workload{
		roundTrips(1), roundTrips(64), writes(64),
		rate(saga, 1), rate(saga, 16), rate(saga, 64),
		rate(tcc, 64), rate(ownTries, 64), rate(message, 64),
		inProcess(64),
		outage("outage-1000", 1000, 0), outage("outage-100k", p.many, 0),
		outage("outage-slow", min(p.many, 20_000), slowness),
		functionOutage("outage-functions-1000", 1000), functionOutage("outage-functions-100k", p.many),
		besideHanging(64),
	}
	for i := range list {
		w := &list[i]
		if w.Rounds == 0 {
			w.Rounds = p.rounds
		}
		if w.longest == 0 {
			w.longest = p.warm + p.length + patience
		}
		measure := w.measure
		w.measure = func(ctx context.Context, m measurement) (Sample, error) {
			m.pace = p
			return measure(ctx, m)
		}
	}
	return list
}

// nameFor is a workload's name with its number of clients.
func nameFor(what any, clients int) string { return fmt.Sprintf("%v-%d", what, clients) }

// single fits Bedrock with one replica, and its peers.
func single(s Subject) bool { return s.Role != Floor && s.Replicas < 2 }

// times adds the times of h to a sample.
func (s Sample) times(h *stats.Histogram) Sample {
	s[P50], s[P99] = micros(h.Percentile(0.50)), micros(h.Percentile(0.99))
	return s
}

// micros returns d in microseconds.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
