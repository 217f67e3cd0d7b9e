package main

import "runtime/debug"

// heapGrowth is how much garbage a server lets pile up, in percent of what is in use.
// A coordinator has little in use and makes much garbage: with Go's default of 100 %
// it spends a tenth of its time on a heap of a few MB.
const heapGrowth = 400

// collectLess trades memory for time, unless its user has settings of his own.
func (s *system) collectLess() {
	if s.getenv("GOGC") == "" && s.getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}
