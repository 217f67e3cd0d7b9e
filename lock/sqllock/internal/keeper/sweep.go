package keeper

import (
	"time"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// Names that nobody has used for long are forgotten, a few now and then: there may be as many as there were jobs.
const (
	sweepEvery = time.Minute
	sweepSteps = 2048 // or after so many, if they come faster
	// SweptNames is how many names are looked at in one step.
	SweptNames = 64
)

// Sweeper goes round the names of a store. It is not safe for concurrent use.
type Sweeper struct {
	last  time.Time
	steps int
	// After is the name that was looked at last.
	After string
}

// IsDue reports whether it is time to go on, after some more steps.
func (s *Sweeper) IsDue(steps int) bool {
	s.steps += steps
	if s.steps < sweepSteps && time.Since(s.last) < sweepEvery {
		return false
	}
	s.last, s.steps = time.Now(), 0
	return true
}

// Pass goes on after the next names, which are at most [SweptNames], and begins anew after the last.
func (s *Sweeper) Pass(names []string) {
	s.After = ""
	if len(names) == SweptNames {
		s.After = names[len(names)-1]
	}
}

// Sweep looks at names, and forgets what is over. It is for another time where somebody has the row.
func Sweep(names []string) *Step {
	return &Step{Names: names, Free: true, Decide: func(c *ledger.Clock, states []*ledger.State) {
		for _, state := range states {
			if state != nil {
				state.Sweep(c)
			}
		}
	}}
}
