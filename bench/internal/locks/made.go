package locks

import "github.com/bedrock-go/bedrock/bench/internal/subject"

// twoNames is one goroutine that has two keys nobody else wants, in one step or
// one after the other; the times are those of a pair.
func twoNames(quick bool) Workload {
	w := uncontended(quick)
	w.Name, w.Stores, w.Full, w.Rounds = "multi-2", nil, true, either(quick, 1, 5)
	w.Fits = func(s subject.Subject) bool { return s.Kind == subject.TwoNames }
	return w
}

// campaign is one goroutine that is elected and resigns, time and again, beside
// one that has a mutex; the times are those of a pair.
func campaign(quick bool) Workload {
	w := uncontended(quick)
	w.Name, w.Stores, w.Full, w.Rounds = "election-1", nil, true, either(quick, 1, 5)
	w.Fits = func(s subject.Subject) bool {
		return s.Kind == subject.Leadership || ordinary(s) && s.Role == subject.Bedrock
	}
	return w
}
