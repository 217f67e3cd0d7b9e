package locktest

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/internal/trial"
)

// TestLatenessIsTakenForAProof: a trial that failed on a machine that was late is repeated,
// but not for ever, and one that failed on a machine that kept pace is not.
func TestLatenessIsTakenForAProof(t *testing.T) {
	for _, tc := range []struct {
		name         string
		late         time.Duration
		fails, tries int
		proved       bool
	}{
		{"at once", 0, 0, 1, true},
		{"late once", time.Second, 1, 2, true},
		{"late for ever", time.Minute, 100, 5, false},
		{"in time", 20 * time.Millisecond, 1, 1, false},
	} {
		virtually(t, tc.name, func(t *testing.T) {
			tries := 0
			complaints := trial.Failures(t, func(tb testing.TB) {
				(&env{TB: tb, ttl: time.Second}).prove(func(p *proof) error {
					if tries++; tries > tc.fails {
						return nil
					}
					p.took(time.Now().Add(-tc.late), 0)
					return errors.New("failed")
				})
			})
			if tries != tc.tries || (len(complaints) == 0) != tc.proved {
				t.Errorf("tried %d times: %q", tries, complaints)
			}
		})
	}
}

// virtually runs a test in virtual time.
func virtually(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// TestPaceIsMisjudged: where pauses take what they should, nothing is late.
func TestPaceIsMisjudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &proof{ttl: time.Second}
		enter := p.watchPace()
		time.Sleep(time.Minute)
		enter()
		if p.late != 0 {
			t.Errorf("late by %s where no time passes", p.late)
		}
	})
}

// TestLimitIsNoTime: on a machine that keeps pace it is over when its time is.
func TestLimitIsNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			takes time.Duration
			kept  bool
		}{{time.Second, true}, {time.Second + time.Microsecond, false}} {
			complaints := trial.Failures(t, func(tb testing.TB) {
				limit := (&env{TB: tb}).limit(time.Second)
				time.Sleep(tc.takes)
				synctest.Wait()
				limit.check("it")
			})
			if kept := len(complaints) == 0; kept != tc.kept {
				t.Errorf("what takes %s of a second: %q", tc.takes, complaints)
			}
		}
	})
}
