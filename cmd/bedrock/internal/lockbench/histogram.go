package lockbench

import (
	"math/bits"
	"time"
)

// stepsPerDoubling is how finely times are told apart: to about 3 %.
const stepsPerDoubling = 32

// histogram counts times in buckets whose width grows with the time, so that it
// takes the same small memory however long the run.
type histogram struct {
	counts  [64 * stepsPerDoubling]int64
	total   int64
	largest time.Duration
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(d)]++
	h.total++
	h.largest = max(h.largest, d)
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
	h.largest = max(h.largest, other.largest)
}

// quantile returns a time that the share q of all are not above.
func (h *histogram) quantile(q float64) time.Duration {
	rest := int64(q * float64(h.total))
	for i, n := range h.counts {
		if rest -= n; rest < 0 {
			return min(upper(i), h.largest)
		}
	}
	return h.largest
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
