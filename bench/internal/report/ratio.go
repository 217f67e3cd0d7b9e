package report

import "github.com/bedrock-go/bedrock/bench/internal/subject"

// compare fills in r's ratios to the other rows of its workload.
func compare(r *Row, rows []*Row) {
	if best := bestPeer(rows, r); best != nil {
		r.BestPeer = best.Subject
		r.RatioToBestPeer = ratio(r.Value, best.Value)
	}
	for _, other := range rows {
		switch {
		case !other.isBeside(r):
		case other.role == subject.Raw && other.client == r.client:
			r.RatioToRaw = ratio(r.Value, other.Value)
		case other.role == subject.Local:
			r.RatioToLocal = ratio(r.Value, other.Value)
		case r.role == subject.Bedrock && other.role == subject.Java:
			r.RatioToRedisson = ratio(r.Value, other.Value)
		case r.role == subject.Made && other.role == subject.Bedrock && other.client == r.client:
			r.RatioToPlain = ratio(r.Value, other.Value)
		}
	}
}

// isBeside reports whether two rows are of one workload on one store.
func (r *Row) isBeside(other *Row) bool {
	return r.Workload == other.Workload && r.store == other.store
}

// bestPeer returns the peer with the best value of those beside r, nil when no peer
// was measured.
func bestPeer(rows []*Row, r *Row) *Row {
	var best *Row
	for _, other := range rows {
		if !other.isBeside(r) || other.role != subject.Peer {
			continue
		}
		if best == nil || other.better(best) {
			best = other
		}
	}
	return best
}

// better reports whether r's value beats that of other.
func (r *Row) better(other *Row) bool {
	if r.lower {
		return r.Value < other.Value
	}
	return r.Value > other.Value
}

// ratio returns a/b, nil when b is 0.
func ratio(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	return new(a / b)
}
