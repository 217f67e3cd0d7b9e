package latch

import (
	"cmp"
	"crypto/rand"
	"time"

	"github.com/bedrock-go/bedrock/input"
)

// Options configure a [Latch]. The zero value and nil mean the defaults.
type Options struct {
	// Patience is how long a call goes on asking a backend that does not answer, or fails for a while, from its first
	// request; then it reports the backend's error. The call is the same all the time: what it changes is changed once.
	// From 1 ms to 30 s; -1 asks once. Defaults to 10 s.
	//
	// One answer is waited for as by package lock: for half of it, 5 s at most, and with -1 for 5 s. A request that is
	// made shortly before its end has 250 ms, so a call may take that much longer.
	Patience time.Duration
}

const (
	defaultPatience  = 10 * time.Second
	leastPatience    = time.Millisecond
	greatestPatience = 30 * time.Second // backends recognise a repeated call for a minute
)

// withDefaults returns a copy with every default filled in, and what is wrong with it.
func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	filled.Patience = cmp.Or(filled.Patience, defaultPatience)
	if p := filled.Patience; p != -1 && (p < leastPatience || p > greatestPatience) {
		return filled, input.Errorf("patience",
			"is %s, allowed are %s to %s; use -1 to ask once", p, leastPatience, greatestPatience)
	}
	return filled, nil
}

// newID returns what identifies one call, however often it is repeated.
func newID() string { return rand.Text() }
