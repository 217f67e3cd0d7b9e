package locktest

import (
	"sync"
	"time"
)

// What a lease does in time it does if the machine lets its holder run. A trial that fails
// proves something only if the machine has kept pace: if it has not, it is repeated with a
// lease twice as long.
const (
	// keptPace is the part of a lease by which what happens may be late.
	keptPace = 50
	// longestTrial is how many times longer than usual a lease gets at most: a trial that
	// fails then fails for another reason.
	longestTrial = 16
)

// proof is a trial with leases of some length.
type proof struct {
	ttl  time.Duration
	late time.Duration // the most by which the machine was late
}

// prove repeats a trial until it succeeds, or fails on a machine that keeps pace.
func (e *env) prove(run func(p *proof) error) {
	e.Helper()
	for ttl := e.ttl; ; ttl *= 2 {
		p := &proof{ttl: ttl}
		err := run(p)
		if err == nil {
			return
		}
		if p.late <= ttl/keptPace || ttl >= longestTrial*e.ttl {
			e.Fatalf("with a lease of %s, on a machine that was late by %s at most: %v", ttl, p.late, err)
		}
		e.Logf("once more with a lease longer than %s: the machine was late by %s: %v", ttl, p.late, err)
	}
}

// took enters how late the machine was with what should have taken d.
func (p *proof) took(start time.Time, d time.Duration) { p.late = max(p.late, time.Since(start)-d) }

// watchPace begins to look how late the machine is with short pauses. What it returns ends
// that, and enters the most by which it was.
func (p *proof) watchPace() (enter func()) {
	over, watched := make(chan struct{}), &proof{ttl: p.ttl}
	var watching sync.WaitGroup
	watching.Go(func() {
		for pause := p.ttl / 100; ; {
			start := time.Now()
			select {
			case <-time.After(pause):
				watched.took(start, pause)
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		watching.Wait()
		p.late = max(p.late, watched.late)
	}
}

// cameTooLate enters that the lease was over before anything could be tried: how long
// leases last is no question of this trial.
func (p *proof) cameTooLate(err error) error {
	p.late = p.ttl
	return err
}
