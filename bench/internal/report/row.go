// Package report turns what was measured into tables, JSON and verdicts.
package report

import (
	"github.com/bedrock-go/bedrock/bench/internal/locks"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// Row is what a run found for one workload and subject. Its JSON form is a
// public contract: fields are added, never renamed. Fields that mean nothing
// for a workload are null or left out.
type Row struct {
	Workload string  `json:"workload"`
	Store    string  `json:"store"`
	Subject  string  `json:"subject"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`

	P50 *float64 `json:"p50_us"`
	P99 *float64 `json:"p99_us"`

	// RatioToBestPeer is the value divided by the best peer's value in this
	// run: above 1 is better for rates, below 1 for times, memory and load.
	RatioToBestPeer *float64 `json:"ratio_to_best_peer"`
	// RatioToRaw is the value divided by that of raw commands through the same
	// client.
	RatioToRaw *float64 `json:"ratio_to_raw"`
	// RatioToLocal is the value divided by that of a local mutex.
	RatioToLocal *float64 `json:"ratio_to_local,omitempty"`
	// RatioToRedisson is Bedrock's value divided by that of Redisson's lock of the same kind, where it is no peer.
	RatioToRedisson *float64 `json:"ratio_to_redisson,omitempty"`
	// RatioToPlain is the value divided by that of Bedrock's mutexes through the same client, for what is made of them.
	RatioToPlain *float64 `json:"ratio_to_plain,omitempty"`
	// BestPeer is whom RatioToBestPeer compares with.
	BestPeer string `json:"best_peer,omitempty"`

	Jain           *float64 `json:"jain,omitempty"`
	JainProcesses  *float64 `json:"jain_processes,omitempty"`
	ShareSpread    *float64 `json:"share_spread,omitempty"`
	Allocs         *float64 `json:"allocs_per_op,omitempty"`
	Commands       *float64 `json:"commands,omitempty"`
	BytesPerWaiter *float64 `json:"bytes_per_waiter,omitempty"`
	RoundTrips     *float64 `json:"round_trips,omitempty"`
	Lost           *float64 `json:"lost,omitempty"`
	Leases         *float64 `json:"leases,omitempty"`
	Goroutines     *float64 `json:"goroutines,omitempty"`
	Growth         *float64 `json:"goroutines_added,omitempty"`
	Violations     *float64 `json:"violations,omitempty"`
	Handoffs       *float64 `json:"handoffs,omitempty"`
	Max            *float64 `json:"max_us,omitempty"`
	ServerTime     *float64 `json:"server_us,omitempty"`

	// Rounds is how many measurements the medians are taken over.
	Rounds int `json:"rounds"`

	role   subject.Role
	store  subject.Store
	client string
	lower  bool
}

// Rows returns one row for each outcome with at least one sample, with its
// ratios to the others.
func Rows(outcomes []*locks.Outcome) []*Row {
	var rows []*Row
	for _, o := range outcomes {
		if len(o.Samples) > 0 {
			rows = append(rows, newRow(o))
		}
	}
	for _, r := range rows {
		compare(r, rows)
	}
	return rows
}

// newRow returns the medians of o.
func newRow(o *locks.Outcome) *Row {
	m := o.Median()
	get := func(metric locks.Metric) *float64 {
		if v, found := m[metric]; found {
			return &v
		}
		return nil
	}
	return &Row{
		Workload: o.Workload.Name, Store: o.Subject.Store.String(), Subject: o.Subject.Name,
		Value: m[locks.Value], Unit: o.Workload.Unit,
		P50: get(locks.P50), P99: get(locks.P99),
		Jain: get(locks.Fairness), JainProcesses: get(locks.ProcFairness),
		ShareSpread: get(locks.Spread),
		Allocs:      get(locks.Allocs), Commands: get(locks.Commands),
		BytesPerWaiter: get(locks.WaiterMemory), RoundTrips: get(locks.RoundTrips),
		Lost: get(locks.Lost), Leases: get(locks.Leases),
		Goroutines: get(locks.Goroutines), Growth: get(locks.Growth),
		Violations: get(locks.Violations), Handoffs: get(locks.Handoffs), Max: get(locks.Longest),
		ServerTime: get(locks.ServerTime),
		Rounds:     len(o.Samples),
		role:       o.Subject.Role, store: o.Subject.Store, client: o.Subject.Client, lower: o.Workload.Lower,
	}
}
