package console

import (
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// scale turns times into places.
type scale struct {
	layout

	from time.Time
	span time.Duration
}

// scaleOf reaches from the transaction's beginning to the last thing that happened.
func scaleOf(t *txn.Transaction, in layout) scale {
	end := t.Finished
	for i := range t.Attempts {
		if a := t.Attempts[i].Last().Add(t.Attempts[i].Took); a.After(end) {
			end = a
		}
	}
	return scale{layout: in, from: t.Created, span: max(end.Sub(t.Created), time.Microsecond)}
}

// x is the place of a moment.
func (s scale) x(at time.Time) float64 {
	share := float64(at.Sub(s.from)) / float64(s.span)
	return float64(s.plotLeft) + float64(s.plotWidth)*min(max(share, 0), 1)
}

// ticks are round times since the beginning.
func (s scale) ticks() []tick {
	step := s.tickStep()
	one, name := unit(step)
	ticks := []tick{{X: s.x(s.from), Label: "0"}}
	for d := step; d <= s.span; d += step {
		ticks = append(ticks, tick{X: s.x(s.from.Add(d)), Label: grouped(int(d/one)) + name})
	}
	return ticks
}

// tickStep is the smallest round duration of which few make up the whole.
func (s scale) tickStep() time.Duration {
	for _, d := range steps() {
		if s.span/d < time.Duration(s.mostTicks) {
			return d
		}
	}
	days := s.span/(time.Duration(s.mostTicks)*24*time.Hour) + 1
	return days * 24 * time.Hour //nolint:durationcheck // days is a number
}

// steps are durations people call round.
func steps() []time.Duration {
	var all []time.Duration
	for d := time.Microsecond; d < time.Second; d *= 10 {
		all = append(all, d, 2*d, 5*d)
	}
	for _, n := range []int{1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 18000, 43200, 86400} {
		all = append(all, time.Duration(n)*time.Second)
	}
	return all
}

// unit is the largest unit that is not longer than a duration, so that multiples of
// a round duration are whole numbers of it.
func unit(d time.Duration) (time.Duration, string) {
	switch {
	case d < time.Millisecond:
		return time.Microsecond, " µs"
	case d < time.Second:
		return time.Millisecond, " ms"
	case d < time.Minute:
		return time.Second, " s"
	case d < time.Hour:
		return time.Minute, " min"
	case d < 24*time.Hour:
		return time.Hour, " h"
	default:
		return 24 * time.Hour, " d"
	}
}
