// Package histogram counts how long things took, in little memory.
package histogram

import (
	"math/bits"
	"time"
)

// stepsPerDoubling is how finely times are told apart: to about 3 %.
const stepsPerDoubling = 32

// Times counts times in buckets whose width grows with the time, so that it takes
// the same small memory however long the run. The zero value is empty.
type Times struct {
	counts  [64 * stepsPerDoubling]int64
	total   int64
	largest time.Duration
}

// Add counts one time.
func (h *Times) Add(d time.Duration) {
	h.counts[bucket(d)]++
	h.total++
	h.largest = max(h.largest, d)
}

// Merge adds all that another one has counted.
func (h *Times) Merge(other *Times) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
	h.largest = max(h.largest, other.largest)
}

// Quantile returns a time that the share q of all are not above.
func (h *Times) Quantile(q float64) time.Duration {
	rest := int64(q * float64(h.total))
	for i, n := range h.counts {
		if rest -= n; rest < 0 {
			return min(upper(i), h.largest)
		}
	}
	return h.largest
}

// Longest returns the longest time.
func (h *Times) Longest() time.Duration { return h.largest }

// Round keeps three digits or so of a time.
func Round(d time.Duration) time.Duration {
	for unit := time.Duration(10); unit < time.Hour; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
	return d
}

// bucket numbers times: the doubling they are in, and the step within it.
func bucket(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < stepsPerDoubling {
		return int(n)
	}
	shift := bits.Len64(n) - bits.Len64(stepsPerDoubling)
	return (shift+1)*stepsPerDoubling + int(n>>shift) - stepsPerDoubling
}

// upper returns the longest time of a bucket.
func upper(i int) time.Duration {
	if i < stepsPerDoubling {
		return time.Duration(i)
	}
	shift, step := i/stepsPerDoubling-1, i%stepsPerDoubling
	return time.Duration(uint64(stepsPerDoubling+step+1)<<shift - 1)
}
