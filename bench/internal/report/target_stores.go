package report

import (
	"slices"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// targetsOfStores returns those of mutexes on other stores than Redis.
func targetsOfStores() []target {
	var all []target
	for _, store := range subject.Stores() {
		if store == subject.Redis {
			continue
		}
		for _, t := range slices.Concat(targetsOfEveryStore(), targetsOfOneStore(store)) {
			t.store = store
			all = append(all, t)
		}
	}
	return all
}

// targetsOfEveryStore returns those that are the same for each.
func targetsOfEveryStore() []target {
	return []target{
		{
			workload: "uncontended-1", text: "uncontended p50, x raw on the same client", limit: 1.2, atMost: true,
			measure: timeToRaw,
		},
		{workload: "contended-64", text: "one key, x best peer", limit: 20, measure: toBestPeer},
		{workload: "contended-4x16", text: "4 processes, x best peer", limit: 5, measure: toBestPeer},
		{
			workload: "contended-4x16", text: "4 processes, Jain fairness of processes", limit: 0.9,
			measure: own(func(r *Row) *float64 { return r.JainProcesses }),
		},
	}
}

// targetsOfOneStore returns those that some have.
func targetsOfOneStore(store subject.Store) []target {
	told := target{
		workload: "waiters-1000", text: "requests a second while waiting", limit: 1, atMost: true,
		measure: own(func(r *Row) *float64 { return r.Commands }),
	}
	switch store {
	case subject.Etcd:
		return []target{told, handoffTo("hand-off p50, x concurrency.Mutex's", "etcd-mutex")}
	case subject.ZooKeeper:
		return []target{told, handoffTo("hand-off p50, x Curator's", "curator")}
	case subject.Postgres:
		return []target{told, {
			workload: "handoff", text: "hand-off p50, x that of a round trip", limit: 3, atMost: true,
			measure: timeToRoundTrip,
		}}
	case subject.SQLite:
		return targetsOfFile()
	default:
		return nil
	}
}

// handoffTo is the time of a hand-off beside that of a peer.
func handoffTo(text, peer string) target {
	return target{workload: "handoff", text: text, limit: 0.7, atMost: true, measure: timeTo(peer)}
}

// targetsOfFile returns those of processes that share a file.
func targetsOfFile() []target {
	return []target{
		{
			workload: "file-4x50", text: "one file, greatest share of a process, x the least", limit: 1.2, atMost: true,
			measure: own(func(r *Row) *float64 { return r.ShareSpread }),
		},
		{
			workload: "file-4x50", text: "the same, p99 of a try in us", limit: 50_000, atMost: true,
			measure: own(func(r *Row) *float64 { return r.P99 }),
		},
	}
}

// timeToRaw compares the median time with that of raw requests.
func timeToRaw(r *Row, rows []*Row) *float64 {
	return toOther(r, rows, subject.Raw, func(r *Row) *float64 { return r.P50 })
}

// timeToRoundTrip compares the median time with that of a request that asks for nothing.
func timeToRoundTrip(r *Row, rows []*Row) *float64 {
	at := slices.IndexFunc(rows, func(other *Row) bool {
		return other.store == r.store && other.role == subject.Ping && other.client == r.client
	})
	if at < 0 {
		return nil
	}
	return ratio(*r.P50, *rows[at].P50)
}
