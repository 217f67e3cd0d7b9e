package lanes_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

const (
	well    = lanes.Well
	failing = lanes.Failing
	down    = lanes.Down
	nothing = lanes.Nothing
)

func TestFiveCallsInARowThatFindNobodyTakeATargetForDown(t *testing.T) {
	for name, test := range map[string]struct {
		calls []lanes.Finding
		down  bool
	}{
		"none":                      {nil, false},
		"four":                      {[]lanes.Finding{down, down, down, down}, false},
		"five":                      {[]lanes.Finding{down, down, down, down, down}, true},
		"success in between":        {[]lanes.Finding{down, down, down, well, down, down}, false},
		"an error is an answer":     {[]lanes.Finding{down, down, down, down, failing, down}, false},
		"errors alone":              {[]lanes.Finding{failing, failing, failing, failing, failing, failing}, false},
		"broken off says nothing":   {[]lanes.Finding{down, down, nothing, down, down, nothing, down}, true},
		"broken off counts nothing": {[]lanes.Finding{down, down, down, down, nothing, nothing}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLane()
			for _, found := range test.calls {
				l.report(0, found)
			}
			wantEqual(t, "the lane is down", l.IsDown(), test.down)
			wantEqual(t, "the list has it down", l.all.IsDown(l.Name()), test.down)
			if test.down {
				l.wantChanges(t, lanes.Change{Opened: true})
			} else {
				l.wantChanges(t)
			}
		})
	}
}

func TestATargetThatIsDownGetsOneProbeASecond(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := downLane(t)
		for range 3 {
			l.mustBlock(t, probePause)
			p := l.mustProbe(t)
			l.mustBlockNow(t)
			l.report(p, down)
		}
		l.wantChanges(t)
	})
}

// Calls that began while the target was up come back long after it was found to be down.
func TestCallsFromBeforePutOffNoProbe(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := downLane(t)
		time.Sleep(probePause - 1)
		l.report(0, down)
		time.Sleep(time.Nanosecond)
		l.mustProbe(t)
	})
}

func TestAProbeThatDoesNotComeBackLosesItsRight(t *testing.T) {
	for limit, until := range map[time.Duration]time.Duration{
		callLimit: callLimit, time.Hour: lanes.HoldBack,
	} {
		t.Run(limit.String(), func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				l := downLane(t)
				time.Sleep(probePause)
				lost, _ := l.Admit(limit)
				l.mustBlock(t, until)
				l.mustProbe(t)
				l.report(lost, down) // it is not this one's right that ends now
				time.Sleep(probePause)
				l.mustBlockNow(t)
			})
		})
	}
}

func TestAProbeThatIsBrokenOffLeavesItsRightToTheNext(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := downLane(t)
		time.Sleep(probePause)
		l.report(l.mustProbe(t), nothing)
		l.mustProbe(t)
	})
}

func TestWhoeverAnswersIsUpAndHasRecovered(t *testing.T) {
	for name, found := range map[string]lanes.Finding{"with success": well, "with an error": failing} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				l := downLane(t)
				time.Sleep(probePause)
				l.report(l.mustProbe(t), found)
				l.wantChanges(t, lanes.Change{Closed: true, Recovered: true})
				wantEqual(t, "standing", l.Standing(), lanes.Standing{Recoveries: 1})
				wantEqual(t, "recoveries", l.Recoveries(), 1)
				if p, ok := l.Admit(callLimit); p != 0 || !ok {
					t.Errorf("pass %d, admitted %v: want any call to be made", p, ok)
				}
				if due := l.all.DueForProbe(1); due != nil {
					t.Errorf("%q are due for a probe", due)
				}
			})
		})
	}
}

// A target that answers with errors is not down, yet what waits for it is fetched early
// once it succeeds; a few errors, or some at the same moment, are nothing to recover from.
func TestATargetInTroubleRecoversWithItsFirstSuccess(t *testing.T) {
	for name, test := range map[string]struct {
		calls     []lanes.Finding
		lasted    time.Duration
		recovered bool
	}{
		"five in a second":     {[]lanes.Finding{failing, failing, failing, failing, failing}, time.Second, true},
		"five in less":         {[]lanes.Finding{failing, failing, failing, failing, failing}, time.Second - 1, false},
		"four in a minute":     {[]lanes.Finding{failing, failing, failing, failing}, time.Minute, false},
		"some found nobody":    {[]lanes.Finding{failing, down, down, failing, down}, time.Second, true},
		"some were broken off": {[]lanes.Finding{failing, nothing, failing, nothing, failing}, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				l := newLane()
				for i, found := range test.calls {
					if i == 1 {
						time.Sleep(test.lasted)
					}
					l.report(0, found)
				}
				l.report(0, well)
				l.report(0, well)
				if test.recovered {
					l.wantChanges(t, lanes.Change{Recovered: true})
				} else {
					l.wantChanges(t)
				}
			})
		})
	}
}

// What was called longest ago without success is forgotten by a success, and not only by
// one after which the target has recovered.
func TestASuccessEndsWhatFailedBefore(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := newLane()
		for range 4 {
			l.report(0, failing)
		}
		l.report(0, well)
		time.Sleep(time.Minute)
		l.report(0, failing)
		l.report(0, well)
		l.wantChanges(t)
	})
}

// search looks for somebody to make the probe of a lane, when that is due and not before.
func (l *watchedLane) search(t *testing.T, after time.Duration, found bool) {
	t.Helper()
	if after > 0 {
		time.Sleep(after - 1)
		if due := l.all.DueForProbe(1); due != nil {
			t.Fatalf("%q are due for a probe before %v", due, after)
		}
		time.Sleep(time.Nanosecond)
	}
	wantEqual(t, "due for a probe", l.all.DueForProbe(1), []string{l.Name()})
	l.all.ReportSearch(l.Name(), found)
}

func TestATargetThatNobodyWaitsForIsForgotten(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := downLane(t)
		l.search(t, probePause, false)
		for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
			l.search(t, pause, false)
		}
		if !l.IsDown() {
			t.Fatal("forgotten too soon")
		}
		l.wantChanges(t)
		l.search(t, 16*time.Second, false)
		l.wantChanges(t, lanes.Change{Forgotten: true})
		wantEqual(t, "standing", l.Standing(), lanes.Standing{Recoveries: 1})
		for range 4 {
			l.report(0, down)
		}
		time.Sleep(time.Minute)
		l.report(0, well)
		l.wantChanges(t) // neither down nor recovered, by what was counted before
	})
}

func TestASearchBeginsAnewWhenSomebodyIsThere(t *testing.T) {
	for name, appears := range map[string]func(t *testing.T, l *watchedLane){
		"found": func(t *testing.T, l *watchedLane) { l.search(t, 4*time.Second, true) },
		"coming along": func(t *testing.T, l *watchedLane) {
			l.mustProbe(t)
			if !l.Standing().Blocked { // and will wait
				t.Fatal("not blocked beside a probe")
			}
			time.Sleep(callLimit - time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				l := downLane(t)
				l.search(t, probePause, false)
				l.search(t, time.Second, false)
				l.search(t, 2*time.Second, false)
				appears(t, l)
				l.search(t, time.Second, false)
				l.search(t, time.Second, false)
				l.search(t, 2*time.Second, false)
			})
		})
	}
}

func TestTheNextOutageIsSearchedAnew(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := downLane(t)
		for _, pause := range []time.Duration{probePause, time.Second, 2 * time.Second, 4 * time.Second} {
			l.search(t, pause, false)
		}
		l.report(0, well)
		l.fall()
		for _, pause := range []time.Duration{probePause, time.Second, 2 * time.Second} {
			l.search(t, pause, false)
		}
	})
}

// A probe of the last outage, which has not come back, shuts nobody out in the next one.
func TestTheNextOutageHasProbesOfItsOwn(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := downLane(t)
		time.Sleep(probePause)
		l.mustProbe(t)
		l.report(0, well)
		l.fall()
		l.mustBlock(t, probePause)
	})
}

func TestASearchThatComesTooLateChangesNothing(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := downLane(t)
		l.report(0, well)
		l.changes = nil
		for range 9 {
			l.all.ReportSearch(l.Name(), false)
		}
		l.wantChanges(t)
	})
}

func TestNobodyIsSoughtWhileAProbeIsUnderWay(t *testing.T) {
	virtually(t, func(t *testing.T) {
		l := downLane(t)
		time.Sleep(probePause)
		p := l.mustProbe(t)
		if due := l.all.DueForProbe(1); due != nil {
			t.Errorf("%q are due for a probe that is under way", due)
		}
		l.all.ReportSearch(l.Name(), false) // of before it came along
		l.report(p, down)
		l.search(t, probePause, false)
	})
}

func TestWhoHasWaitedLongestIsTriedFirst(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ls := lanes.New(1, 1, shortest, func(string, lanes.Change) {})
		for _, name := range []string{"a third", "z first", "y first", "k second", "up"} {
			ls.Get(txn.Target(name))
		}
		fall := func(name string) {
			for range 5 {
				ls.ReportCall(ls.Get(txn.Target(name)), 0, down)
			}
		}
		fall("z first")
		fall("y first")
		time.Sleep(time.Millisecond)
		fall("k second")
		time.Sleep(time.Millisecond)
		fall("a third")
		time.Sleep(probePause)
		wantEqual(t, "all", ls.DueForProbe(9), []string{"y first", "z first", "k second", "a third"})
		wantEqual(t, "three", ls.DueForProbe(3), []string{"y first", "z first", "k second"})
	})
}

// history is what a breaker is held against: whether the target is down, told from the
// findings alone, and the probe that has the right.
type history struct {
	silent int
	down   bool
	probe  lanes.Pass
	until  time.Time // of its right
	last   time.Time // when a probe was let through or came back, or the target went down
}

// enter counts a finding.
func (h *history) enter(p lanes.Pass, found lanes.Finding) {
	probed := p != 0 && p == h.probe
	if probed {
		h.probe = 0
	}
	switch found {
	case nothing:
	case down:
		if h.silent++; h.silent >= 5 && !h.down || probed {
			h.last = time.Now()
		}
		if h.silent >= 5 && !h.down {
			h.down, h.probe = true, 0
		}
	default:
		h.silent, h.down = 0, false
	}
}

// mayPass reports whether a call that comes now must be let through.
func (h *history) mayPass() bool {
	probing := h.probe != 0 && time.Now().Before(h.until)
	return !h.down || !probing && time.Since(h.last) >= probePause
}

// TestBreakerOfAnySchedule draws calls that come, hang, come back in any order and find
// whatever they may: a breaker that is closed lets everybody through, one that is open a
// single probe in each pause.
func TestBreakerOfAnySchedule(t *testing.T) {
	findings := []lanes.Finding{down, down, down, down, down, down, down, well, failing, nothing}
	pauses := []time.Duration{0, 0, 0, time.Millisecond, probePause - 1, probePause, callLimit}
	rapid.Check(t, func(rt *rapid.T) {
		type event struct {
			sleep time.Duration
			comes bool
			which int
			found lanes.Finding
		}
		events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
			return event{
				sleep: rapid.SampledFrom(pauses).Draw(t, "sleep"),
				comes: rapid.Bool().Draw(t, "comes"),
				which: rapid.IntRange(0, 9).Draw(t, "which"),
				found: rapid.SampledFrom(findings).Draw(t, "found"),
			}
		}), 1, 200).Draw(rt, "events")
		virtually(t, func(*testing.T) {
			l, h := newLane(), &history{}
			var out []lanes.Pass
			for i, e := range events {
				time.Sleep(e.sleep)
				if e.comes || len(out) == 0 {
					want := h.mayPass()
					p, ok := l.Admit(callLimit)
					if ok != want || ok && (p != 0) != h.down {
						rt.Errorf("event %d: pass %d, admitted %v: want %v, down is %v", i, p, ok, want, h.down)
						return
					}
					if ok {
						out = append(out, p)
					}
					if p != 0 {
						h.probe, h.until = p, time.Now().Add(callLimit)
					}
					continue
				}
				n := e.which % len(out)
				l.report(out[n], e.found)
				h.enter(out[n], e.found)
				out = append(out[:n], out[n+1:]...)
				if l.IsDown() != h.down {
					rt.Errorf("event %d: down is %v, want %v", i, l.IsDown(), h.down)
					return
				}
			}
		})
	})
}
