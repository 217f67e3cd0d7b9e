package stats_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/stats"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 100, 2}, 3},
	} {
		if got := stats.Median(c.values); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMedianLeavesItsInputAlone(t *testing.T) {
	values := []float64{3, 1, 2}
	stats.Median(values)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Errorf("values became %v", values)
	}
}

func TestJain(t *testing.T) {
	for _, c := range []struct {
		shares []int64
		want   float64
	}{
		{nil, 0},
		{[]int64{0, 0}, 0},
		{[]int64{5, 5, 5, 5}, 1},
		{[]int64{8, 0, 0, 0}, 0.25},
		{[]int64{1, 3}, 0.8},
	} {
		if got := stats.Jain(c.shares); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Jain(%v) = %v, want %v", c.shares, got, c.want)
		}
	}
}

func TestHistogramPercentilesAreWithinOnePercent(t *testing.T) {
	var h stats.Histogram
	for i := 1; i <= 100_000; i++ {
		h.Add(time.Duration(i) * time.Microsecond)
	}
	for _, p := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
		want := p * 100_000
		got := float64(h.Percentile(p)) / 1000
		if math.Abs(got-want)/want > 0.01 {
			t.Errorf("Percentile(%v) = %v µs, want about %v", p, got, want)
		}
	}
}

func TestHistogramTakesExtremes(t *testing.T) {
	var h stats.Histogram
	h.Add(-time.Second)
	h.Add(0)
	h.Add(math.MaxInt64)
	if got := h.Percentile(0.5); got > 1 {
		t.Errorf("median = %v, want 0", got)
	}
	if got := h.Percentile(1); got < time.Hour {
		t.Errorf("maximum = %v, want hours", got)
	}
	if got := (&stats.Histogram{}).Percentile(0.99); got != 0 {
		t.Errorf("percentile of nothing = %v, want 0", got)
	}
}

func TestHistogramSurvivesJSON(t *testing.T) {
	var sent, got stats.Histogram
	for _, d := range []time.Duration{0, 1, 255, 256, time.Millisecond, time.Minute} {
		sent.Add(d)
	}
	text, err := json.Marshal(&sent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got != sent {
		t.Error("the histogram changed on its way through JSON")
	}
}

func TestHistogramMergeAddsUp(t *testing.T) {
	var a, b stats.Histogram
	a.Add(time.Millisecond)
	b.Add(time.Second)
	b.Add(time.Second)
	a.Merge(&b)
	if a.Total() != 3 {
		t.Errorf("total = %d, want 3", a.Total())
	}
	if got := a.Percentile(0.9); got < 990*time.Millisecond {
		t.Errorf("p90 = %v, want about a second", got)
	}
}
