package stats

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"time"
)

// The first 2*subBuckets buckets are one nanosecond wide; after that every
// doubling has subBuckets of them, so that a bucket is less than 0.8 % wide.
const (
	subBuckets = 128
	subBits    = 7
	buckets    = 38 * subBuckets
	longest    = 1<<44 - 1
)

// Histogram counts durations. Its size is fixed, so that recording allocates
// nothing and disturbs neither the memory nor the pace of what is measured.
type Histogram struct {
	counts [buckets]uint64
	total  uint64
}

// Add counts d; negative durations count as 0.
func (h *Histogram) Add(d time.Duration) {
	h.counts[bucket(d)]++
	h.total++
}

// Merge adds what other has counted.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range &other.counts {
		h.counts[i] += n
	}
	h.total += other.total
}

// Total returns how many durations were counted.
func (h *Histogram) Total() uint64 { return h.total }

// Percentile returns the duration that the fraction p of all does not exceed,
// interpolated inside its bucket; 0 when nothing was counted.
func (h *Histogram) Percentile(p float64) time.Duration {
	rank := p * float64(h.total)
	var seen float64
	for i, n := range &h.counts {
		if n > 0 && seen+float64(n) >= rank {
			low, high := lowest(i), lowest(i+1)
			return low + time.Duration((rank-seen)/float64(n)*float64(high-low))
		}
		seen += float64(n)
	}
	return 0
}

// MarshalJSON writes only the buckets in use.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	used := make(map[int]uint64)
	for i, n := range &h.counts {
		if n > 0 {
			used[i] = n
		}
	}
	return json.Marshal(used)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var used map[int]uint64
	if err := json.Unmarshal(text, &used); err != nil {
		return fmt.Errorf("read histogram: %w", err)
	}
	*h = Histogram{}
	for i, n := range used {
		if i < 0 || i >= buckets {
			return fmt.Errorf("read histogram: bucket %d of %d", i, buckets)
		}
		h.counts[i] = n
		h.total += n
	}
	return nil
}

// bucket returns the index of the bucket d falls into.
func bucket(d time.Duration) int {
	v := uint64(min(max(d, 0), longest))
	shift := max(bits.Len64(v)-subBits-1, 0)
	return shift*subBuckets + int(v>>shift)
}

// lowest returns the shortest duration of bucket i.
func lowest(i int) time.Duration {
	shift := max(i/subBuckets-1, 0)
	return time.Duration(i-shift*subBuckets) << shift
}
