// Package chance is where the random parts of pauses come from.
//
// They are drawn from the machine's random numbers, unless the backend or the
// store underneath brings numbers of its own. A simulated one does, so that a run
// takes the same pauses whenever it is repeated.
package chance

import (
	"math/rand/v2"
	"time"
)

// Draw returns a duration from 0 up to, and without, n, which is positive.
type Draw func(n time.Duration) time.Duration

// Source is implemented by backends and stores that say what is drawn.
type Source interface {
	Draw(n time.Duration) time.Duration
}

// Of returns what somebody who uses this backend or store draws from.
func Of(store any) Draw {
	if own, ok := store.(Source); ok {
		return own.Draw
	}
	return rand.N[time.Duration]
}
