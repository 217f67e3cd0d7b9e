package lanes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shortest draws the least, so pauses are as short as they may be.
func shortest(time.Duration) time.Duration { return 0 }

// The pauses between two probes of a target that is down, by what shortest draws, and the
// time for which one that never comes back keeps its right.
const (
	probePause = 750 * time.Millisecond
	callLimit  = 2 * time.Second
)

const target txn.Target = "stock.deduct"

// watchedLane is one lane, and what its breaker has told.
type watchedLane struct {
	*lanes.Lane
	all     *lanes.Lanes
	changes []lanes.Change
}

func newLane() *watchedLane {
	l := &watchedLane{}
	l.all = lanes.New(2, 3, shortest, func(_ string, c lanes.Change) { l.changes = append(l.changes, c) })
	l.Lane = l.all.Get(target)
	return l
}

// downLane is a lane whose breaker has just opened.
func downLane(t *testing.T) *watchedLane {
	t.Helper()
	l := newLane()
	l.fall()
	if !l.IsDown() {
		t.Fatal("five calls found nobody, and the target is not down")
	}
	l.changes = nil
	return l
}

// fall lets so many calls find nobody that the target counts as down.
func (l *watchedLane) fall() {
	for range 5 {
		l.report(0, lanes.Down)
	}
}

func (l *watchedLane) report(p lanes.Pass, found lanes.Finding) { l.all.ReportCall(l.Lane, p, found) }

// mustProbe makes the probe that is due.
func (l *watchedLane) mustProbe(t *testing.T) lanes.Pass {
	t.Helper()
	p, ok := l.Admit(callLimit)
	if !ok || p == 0 {
		t.Fatalf("pass %d, admitted %v: want a probe", p, ok)
	}
	return p
}

// mustBlock wants no call to be made for a while, and one to be possible right after it.
func (l *watchedLane) mustBlock(t *testing.T, d time.Duration) {
	t.Helper()
	for _, wait := range []time.Duration{0, d - 1} {
		time.Sleep(wait)
		if p, ok := l.Admit(callLimit); ok {
			t.Fatalf("admitted (pass %d), %v before its time", p, d-wait)
		}
		if s := l.Standing(); !s.Open || !s.Blocked {
			t.Fatalf("%+v: want it open and blocked", s)
		}
	}
	time.Sleep(time.Nanosecond)
	if s := l.Standing(); !s.Open || s.Blocked {
		t.Fatalf("%+v after %v: want it open, and a probe to be due", s, d)
	}
}

// mustBlockNow wants no call to be made beside the probe that is under way.
func (l *watchedLane) mustBlockNow(t *testing.T) {
	t.Helper()
	if p, ok := l.Admit(callLimit); ok {
		t.Fatalf("admitted (pass %d) beside a probe", p)
	}
}

// wantChanges compares what was told since it was last compared.
func (l *watchedLane) wantChanges(t *testing.T, want ...lanes.Change) {
	t.Helper()
	wantEqual(t, "changes told", l.changes, want)
	l.changes = nil
}

// virtually runs a test in virtual time.
func virtually(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
