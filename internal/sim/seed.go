package sim

import (
	"math/rand/v2"
	"time"
)

// Seed is where everything drawn in a run comes from. Whatever is decided while a
// run goes on is drawn from a seed made of what it is about (this link, this kind of
// message, the third of its kind), and not from a sequence: which of two goroutines
// that run at the same instant is first then makes no difference.
type Seed uint64

// mix spreads a number over all bits (SplitMix64's last step).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// At is the seed of something with these numbers.
func (s Seed) At(numbers ...uint64) Seed {
	for _, n := range numbers {
		s = Seed(mix(uint64(s) + 0x9e3779b97f4a7c15 + mix(n+1)))
	}
	return s
}

// Named is the seed of something of this name.
func (s Seed) Named(name string) Seed {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return s.At(h)
}

// Between draws a duration, to the nanosecond: two that are drawn are hardly ever
// equal, so no two things happen at the same instant by chance.
func (s Seed) Between(from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + time.Duration(mix(uint64(s))%uint64(to-from))
}

// Chance draws whether something of this probability happens.
func (s Seed) Chance(p float64) bool {
	return float64(mix(uint64(s)+1)>>11)/(1<<53) < p
}

// Rand is for drawing many things in a fixed order, as a plan does.
func (s Seed) Rand() *Rand { return &Rand{rand.New(rand.NewPCG(uint64(s), mix(uint64(s))))} }

// Rand draws in order.
type Rand struct{ *rand.Rand }

// Between draws a duration.
func (r *Rand) Between(from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// Number draws from..to, both included.
func (r *Rand) Number(from, to int) int { return from + r.IntN(to-from+1) }

// Chance draws whether something of this probability happens.
func (r *Rand) Chance(p float64) bool { return r.Float64() < p }

// Pick draws one of several.
func Pick[T any](r *Rand, choices ...T) T { return choices[r.IntN(len(choices))] }
