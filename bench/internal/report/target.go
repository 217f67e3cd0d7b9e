package report

import (
	"cmp"
	"slices"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// target is something Bedrock wants to reach.
type target struct {
	workload string
	// store is where it is to be reached, Redis unless it says otherwise.
	store subject.Store
	text  string
	// client limits the target to one Redis client; empty means both.
	client string
	// role is what the target is for, Bedrock unless it says otherwise.
	role   subject.Role
	limit  float64
	atMost bool
	// measure returns the number to hold against the limit, nil for none.
	measure func(r *Row, rows []*Row) *float64
}

// concerns reports whether the target is for r.
func (t target) concerns(r *Row) bool {
	return t.workload == r.Workload && t.store == r.store && t.role == r.role &&
		(t.client == "" || t.client == r.client)
}

// targets returns all targets in the order of the workloads.
func targets() []target {
	return slices.Concat(
		targetsOfPace(), targetsOfOrder(), targetsOfWaiting(), targetsOfHolding(),
		targetsOfShared(), targetsOfSeveral(), targetsOfStores(),
	)
}

// targetsOfPace returns those of mutexes on one server that are had as fast as can be.
func targetsOfPace() []target {
	toRaw := func(r *Row, _ []*Row) *float64 { return r.RatioToRaw }
	return []target{
		{
			workload: "uncontended-1", text: "uncontended p50, x best peer on the same client", limit: 1.05,
			atMost: true, measure: pairTimeToPeers,
		},
		{
			workload: "uncontended-1-shared", text: "the same, sharing a processor with the server", limit: 1.05,
			atMost: true, measure: pairTimeToPeers,
		},
		{
			workload: "uncontended-1", text: "server time of a pair, x raw on the same client", limit: 1.8,
			atMost: true, measure: serverTimeToRaw,
		},
		{
			workload: "uncontended-1", text: "a lock that lingers, x best peer", limit: 50, role: subject.Lingering,
			measure: toBestPeer,
		},
		{
			workload: "uncontended-1", text: "allocations of an uncontended pair", client: "rueidis", limit: 12,
			atMost: true, measure: own(func(r *Row) *float64 { return r.Allocs }),
		},
		{workload: "own-keys-64", text: "own keys, x raw on the same client", limit: 0.85, measure: toRaw},
		{workload: "own-keys-64", text: "own keys, x best peer", limit: 1.25, measure: toBestPeer},
		{workload: "contended-64", text: "one key, x best peer", limit: 25, measure: toBestPeer},
		{
			workload: "contended-64", text: "one key, p99 wait, x best peer's", limit: 0.02, atMost: true,
			measure: waitToBestPeer,
		},
		{
			workload: "contended-64", text: "one key, Jain fairness", limit: 0.95,
			measure: own(func(r *Row) *float64 { return r.Jain }),
		},
		{workload: "contended-64", text: "one key, x Redisson's RLock", limit: 10, measure: toRedisson},
		{workload: "contended-4x16", text: "4 processes, x best peer", limit: 10, measure: toBestPeer},
		{workload: "contended-4x16", text: "4 processes, x Redisson's RLock", limit: 10, measure: toRedisson},
		{
			workload: "contended-4x16", text: "4 processes, Jain fairness of processes", limit: 0.9,
			measure: own(func(r *Row) *float64 { return r.JainProcesses }),
		},
		{
			workload: "contended-4x1", text: "4 processes of one goroutine, Jain fairness", limit: 0.98,
			measure: own(func(r *Row) *float64 { return r.JainProcesses }),
		},
		{
			workload: "contended-4x1", text: "the same, longest wait in us", limit: 30_000, atMost: true,
			measure: own(func(r *Row) *float64 { return r.Max }),
		},
	}
}

// targetsOfOrder returns those of mutexes whose waiters are served in order.
func targetsOfOrder() []target {
	return []target{
		{workload: "fair-4x16", text: "4 processes, served in order, x RFairLock", limit: 3, measure: toBestPeer},
		{
			workload: "fair-4x16-order", text: "the same, served out of turn", limit: 0, atMost: true,
			measure: own(func(r *Row) *float64 { return &r.Value }),
		},
	}
}

// targetsOfWaiting returns those of waiting for a mutex, and of getting it.
func targetsOfWaiting() []target {
	return []target{
		{
			workload: "waiters-1000", text: "commands a second while waiting", limit: 0, atMost: true,
			measure: own(func(r *Row) *float64 { return r.Commands }),
		},
		{
			workload: "waiters-1000", text: "bytes per waiter", limit: 3500, atMost: true,
			measure: own(func(r *Row) *float64 { return r.BytesPerWaiter }),
		},
		{
			workload: "handoff", text: "hand-off p50, x rueidislock's as it comes", limit: 0.65, atMost: true,
			measure: timeTo("rueidislock"),
		},
		{
			workload: "handoff", text: "hand-off p50, x rueidislock's with one key", limit: 0.65, atMost: true,
			measure: timeTo("rueidislock-1key"),
		},
		{
			workload: "handoff", text: "hand-off p50, x the message alone", limit: 1.7, atMost: true,
			measure: timeTo("message-goredis"),
		},
		{
			workload: "handoff", text: "round trips of a hand-off", limit: 1, atMost: true,
			measure: own(func(r *Row) *float64 { return r.RoundTrips }),
		},
		{
			workload: "recall", text: "a lock that lingers elsewhere, x one that does not", limit: 3, atMost: true,
			role: subject.Lingering, measure: timeToPlain,
		},
		{
			workload: "forced", text: "forced release until its holder knows, p99, x a round trip's",
			limit: 5, atMost: true, measure: longTimeToRaw,
		},
	}
}

// targetsOfHolding returns those of holding mutexes.
func targetsOfHolding() []target {
	return []target{
		{
			workload: "hold-1ms-64", text: "1 ms hold, x local mutex", limit: 0.95,
			measure: own(func(r *Row) *float64 { return r.RatioToLocal }),
		},
		{
			workload: "held-100k", text: "processor of idle leases, % of a core",
			limit: 10, atMost: true, measure: own(func(r *Row) *float64 { return &r.Value }),
		},
		{
			workload: "held-100k", text: "leases lost", limit: 0, atMost: true,
			measure: own(func(r *Row) *float64 { return r.Lost }),
		},
		{
			workload: "held-100k", text: "goroutines added by all leases", limit: 1, atMost: true,
			measure: own(func(r *Row) *float64 { return r.Growth }),
		},
	}
}

// targetsOfShared returns those of locks that many may have.
func targetsOfShared() []target {
	return []target{
		{workload: "rw-4x16", text: "95 % reads, x best peer's mutex", limit: 10, measure: toBestPeer},
		{workload: "rw-4x16", text: "95 % reads, x RReadWriteLock", limit: 3, measure: toRedisson},
		{workload: "semaphore-8-64", text: "8 permits, x RPermitExpirableSemaphore", limit: 5, measure: toRedisson},
	}
}

// targetsOfSeveral returns those of mutexes on several servers.
func targetsOfSeveral() []target {
	return []target{
		{
			workload: "several-1", text: "votes of five servers, p50, x one server's", limit: 1.5, atMost: true,
			role: subject.Quorum, measure: timeToPlain,
		},
		{
			workload: "several-1", text: "votes of five servers, x best peer's Redlock", limit: 1,
			role: subject.Quorum, measure: toBestPeer,
		},
		{
			workload: "several-1", text: "three servers in turn, p50, x one server's", limit: 3.3, atMost: true,
			role: subject.Combination, measure: timeToPlain,
		},
		{
			workload: "several-1-far", text: "the same votes, 1 ms away, p50, x one server's", limit: 1.5, atMost: true,
			role: subject.Quorum, measure: timeToPlain,
		},
		{
			workload: "several-1-far", text: "the same turn, 1 ms away, p50, x one server's", limit: 3.3, atMost: true,
			role: subject.Combination, measure: timeToPlain,
		},
	}
}

// toBestPeer compares the value with the best peer's.
func toBestPeer(r *Row, _ []*Row) *float64 { return r.RatioToBestPeer }

// toRedisson compares the value with that of Redisson's lock of the same kind.
func toRedisson(r *Row, _ []*Row) *float64 { return r.RatioToRedisson }

// own measures by the row alone.
func own(measure func(*Row) *float64) func(*Row, []*Row) *float64 {
	return func(r *Row, _ []*Row) *float64 { return measure(r) }
}

// pairTimeToPeers compares the median time of a pair with that of the quickest peer on the same client.
func pairTimeToPeers(r *Row, rows []*Row) *float64 {
	var best *Row
	for _, other := range rows {
		if other.isBeside(r) && other.role == subject.Peer && other.client == r.client &&
			(best == nil || *other.P50 < *best.P50) {
			best = other
		}
	}
	if best == nil {
		return nil
	}
	return ratio(*r.P50, *best.P50)
}

// serverTimeToRaw compares what a pair costs the server with raw commands.
func serverTimeToRaw(r *Row, rows []*Row) *float64 {
	return toOther(r, rows, subject.Raw, func(r *Row) *float64 { return r.ServerTime })
}

// longTimeToRaw compares what all but a hundredth take with raw commands.
func longTimeToRaw(r *Row, rows []*Row) *float64 {
	return toOther(r, rows, subject.Raw, func(r *Row) *float64 { return r.P99 })
}

// timeToPlain compares the median time with that of Bedrock on one server, where nothing lingers.
func timeToPlain(r *Row, rows []*Row) *float64 {
	return toOther(r, rows, subject.Bedrock, func(r *Row) *float64 { return r.P50 })
}

// toOther compares a number with that of a role on the same client.
func toOther(r *Row, rows []*Row, role subject.Role, of func(*Row) *float64) *float64 {
	for _, other := range rows {
		if !other.isBeside(r) || other.role != role || other.client != r.client {
			continue
		}
		if mine, theirs := of(r), of(other); mine != nil && theirs != nil {
			return ratio(*mine, *theirs)
		}
	}
	return nil
}

// starving is the fairness below which a peer's short waits are those of the
// few that get the lock, while the others get nothing.
const starving = 0.5

// waitToBestPeer compares the longest waits with those of the peer that has
// the highest rate of those that starve nobody.
func waitToBestPeer(r *Row, rows []*Row) *float64 {
	fair := slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool {
		return r.Jain != nil && *r.Jain < starving
	})
	best := cmp.Or(bestPeer(fair, r), bestPeer(rows, r))
	if best == nil {
		return nil
	}
	return ratio(*r.P99, *best.P99)
}

// timeTo compares the median time with a peer's.
func timeTo(peer string) func(*Row, []*Row) *float64 {
	return func(r *Row, rows []*Row) *float64 {
		for _, other := range rows {
			if other.isBeside(r) && other.Subject == peer {
				return ratio(*r.P50, *other.P50)
			}
		}
		return nil
	}
}
