package histogram

import (
	"math"
	"testing"
	"time"
)

func TestBucketsAreNarrow(t *testing.T) {
	last := -1
	for d := time.Duration(0); d < time.Hour; d += d/50 + 1 {
		i := bucket(d)
		if i < last {
			t.Fatalf("bucket(%d) = %d, after %d", d, i, last)
		}
		last = i
		if top := upper(i); top < d || float64(top-d) > 0.04*float64(d) {
			t.Fatalf("%d is in a bucket up to %d", d, top)
		}
	}
	if i := bucket(math.MaxInt64); i >= len(Times{}.counts) || upper(i) != math.MaxInt64 {
		t.Errorf("the longest time is in bucket %d up to %d", i, upper(i))
	}
}

func TestQuantiles(t *testing.T) {
	var one, two, all Times
	for i := 1; i <= 1000; i++ {
		h := &one
		if i > 400 {
			h = &two
		}
		h.Add(time.Duration(i) * time.Millisecond)
	}
	all.Merge(&one)
	all.Merge(&two)
	for q, want := range map[float64]time.Duration{
		0.5: 500 * time.Millisecond, 0.99: 990 * time.Millisecond, 1: time.Second,
	} {
		if got := all.Quantile(q); math.Abs(float64(got-want)) > 0.04*float64(want) {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
	if got := new(Times).Quantile(0.5); got != 0 {
		t.Errorf("quantile of nothing is %v", got)
	}
}
