package redislock

import "testing"

// TestAWriterIsHeardOfTwice: what is said again for Redisson wakes nobody here.
func TestAWriterIsHeardOfTwice(t *testing.T) {
	w := &watch{c: make(chan struct{}, 1)}
	for _, text := range []string{"1", "00", "0"} {
		w.hear(nil, text)
	}
	if w.Count() != 2 {
		t.Errorf("two releases were heard of %d times", w.Count())
	}
}
