package locks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

const ms = time.Millisecond

// tale is a history that is told rather than recorded.
type tale struct {
	t     *testing.T
	files map[string][]event
}

// healthy is a run in which all is well: two workers take turns on one name.
func healthy(t *testing.T) *tale {
	s := &tale{t: t, files: map[string][]event{}}
	s.tell(controller, event{At: 1, Kind: kindBegin, Plan: &settings{Name: "told"}})
	s.tell("w1.1", event{At: 1, Kind: kindBorn, N: 5, M: 11}, event{At: 60 * time.Second, Kind: kindGone, N: 5})
	s.tell("w2.1", event{At: 1, Kind: kindBorn, N: 5, M: 12}, event{At: 60 * time.Second, Kind: kindGone, N: 5})
	for i := range 120 {
		at := time.Duration(i+1) * 50 * ms
		s.lease(fmt.Sprintf("w%d.1", 1+i%2), lease{
			op: int64(i + 1), name: "job", ask: at, got: at + ms, out: at + 20*ms,
			left: at + 21*ms, token: uint64(i + 1),
		})
	}
	s.window("worker paused", 5*time.Second, 5*time.Second+ms, nemesis.Excuses{})
	s.tell(controller, event{At: 60 * time.Second, Kind: kindFinish})
	return s
}

func (s *tale) tell(life string, events ...event) {
	s.files[life] = append(s.files[life], events...)
}

func (s *tale) window(kind string, from, to time.Duration, excuses nemesis.Excuses) {
	s.tell(controller, event{At: to, Kind: kindFault, Window: &nemesis.Window{
		Kind: kind, From: from, To: to, Excuses: excuses, Effect: nemesis.Effect{Evidence: "told", From: from, To: to},
	}})
}

// cutOff tells that one worker was cut off.
func (s *tale) cutOff(worker string, from, to time.Duration) {
	s.tell(controller, event{At: to, Kind: kindFault, Window: &nemesis.Window{
		Kind: "connection cut", From: from, To: to, Excuses: nemesis.Excuses{Loss: true, Wait: true},
		Effect: nemesis.Effect{Evidence: "told", Hit: []string{worker}},
	}})
}

// lease tells of a lease; what has no time did not happen.
func (s *tale) lease(life string, l lease) {
	ttl, until := max(l.ttl, time.Second), l.until
	if until == 0 {
		until = l.ask + 30*time.Second
	}
	s.tell(life, event{
		At: l.ask, Kind: kindAsk, Op: l.op, Client: 1, Name: l.name, Style: cmp.Or(l.style, plain),
		Until: until, TTL: ttl, MinHold: l.minHold,
	})
	if l.no > 0 {
		s.tell(life, event{At: l.no, Kind: kindNo, Op: l.op, Class: classGone, Doubt: l.doubt})
	}
	if l.got > 0 {
		s.tell(life, event{At: l.got, Kind: kindGot, Op: l.op, Token: l.token})
	}
	if l.ended > 0 {
		s.tell(life, event{At: l.ended, Kind: kindEnd, Op: l.op, Good: l.good, Class: classLost})
	}
	if l.out > 0 {
		s.tell(life, event{At: l.out, Kind: kindOut, Op: l.op, Good: l.out, Until: l.out + time.Second})
	}
	if l.left > 0 {
		s.tell(life, event{At: l.left, Kind: kindLeft, Op: l.op})
	}
}

func (s *tale) judge() *audit.Report {
	s.t.Helper()
	dir := s.t.TempDir()
	for life, events := range s.files {
		var text strings.Builder
		for i := range events {
			line, err := json.Marshal(&events[i])
			if err != nil {
				s.t.Fatal(err)
			}
			fmt.Fprintf(&text, "%s\n", line)
		}
		if err := os.WriteFile(filepath.Join(dir, life+".jsonl"), []byte(text.String()), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	r, err := Judge(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func oracles(r *audit.Report) map[string]int {
	count := map[string]int{}
	for _, v := range r.Violations {
		count[v.Oracle]++
	}
	return count
}

func TestHealthyRunIsClean(t *testing.T) {
	if r := healthy(t).judge(); r.Verdict != audit.Clean {
		t.Errorf("got %s: %v %v", r.Verdict, r.Violations, r.Doubts)
	}
}

// Each oracle finds the fault that is planted for it in a healthy history, and nothing
// once a fault of the run excuses it.
func TestOraclesFindWhatIsPlanted(t *testing.T) {
	const at = 20 * time.Second // long after the others have left
	for _, c := range []struct {
		oracle string
		plant  func(s *tale)
		// excuse is what would explain it; empty: nothing does.
		excuse nemesis.Excuses
	}{
		{"two at once", func(s *tale) {
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + ms, out: at + 100*ms, left: at + 101*ms, token: 901,
			})
			s.lease("w2.1", lease{
				op: 902, name: "job", ask: at, got: at + 50*ms, out: at + 60*ms, left: at + 61*ms, token: 902,
			})
		}, nemesis.Excuses{Twice: true}},
		{"tokens", func(s *tale) {
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + ms, out: at + 10*ms, left: at + 11*ms, token: 7,
			})
		}, nemesis.Excuses{}},
		{"tokens", func(s *tale) {
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + ms, out: at + 10*ms, left: at + 11*ms, token: 901,
			})
			s.lease("w2.1", lease{
				op: 902, name: "job", ask: at + 12*ms, got: at + 13*ms, out: at + 20*ms, left: at + 21*ms,
				token: 901,
			})
		}, nemesis.Excuses{}},
		{"fence", func(s *tale) {
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + ms, out: at + 100*ms, left: at + 101*ms, token: 901,
			})
			s.tell("w1.1", event{At: at + 50*ms, Kind: kindRefused, Op: 901, Token: 901})
		}, nemesis.Excuses{Twice: true}},
		{"lease lost", func(s *tale) {
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + ms, good: at + 990*ms, ended: at + 1000*ms,
				token: 901,
			})
		}, nemesis.Excuses{Loss: true}},
		{"late return", func(s *tale) {
			s.lease("w1.1", lease{op: 901, name: "job", ask: at, until: at + 100*ms, no: at + 400*ms})
		}, nemesis.Excuses{}},
		{"late return", func(s *tale) {
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + ms, out: at + 2*ms, left: at + 1500*ms, token: 901,
			})
		}, nemesis.Excuses{}},
		{"never returned", func(s *tale) {
			s.lease("w1.1", lease{op: 901, name: "job", ask: at, until: at + 100*ms})
		}, nemesis.Excuses{}},
		{"stood free", func(s *tale) {
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + 5*time.Second, out: at + 5010*ms,
				left: at + 5011*ms, token: 901,
			})
		}, nemesis.Excuses{Wait: true}},
		{"stood free", func(s *tale) { // the end of a least time that nobody was told of
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + ms, out: at + 2*ms, left: at + 3*ms, token: 901,
				minHold: 300 * ms,
				ttl:     longTTL,
			})
			s.lease("w2.1", lease{
				op: 902, name: "job", ask: at + 4*ms, got: at + 4*time.Second, out: at + 4010*ms,
				left: at + 4011*ms, token: 902,
			})
		}, nemesis.Excuses{Wait: true}},
		{"stood free", func(s *tale) { // what could not be released is over when its time is
			s.tell("w1.1", event{
				At: at, Kind: kindAsk, Op: 901, Client: 1, Name: "job", TTL: time.Second, Style: plain,
				Until: at + time.Second,
			})
			s.tell("w1.1", event{At: at + ms, Kind: kindGot, Op: 901, Token: 901})
			s.tell("w1.1", event{At: at + 2*ms, Kind: kindOut, Op: 901, Good: at + ms, Until: at + time.Second})
			s.tell("w1.1", event{At: at + 3*ms, Kind: kindLeft, Op: 901, Class: classFailed})
			s.tell("w1.1", event{At: at + 9*time.Second, Kind: kindClosing, Client: 1, Until: at + 10*time.Second})
			s.tell("w1.1", event{At: at + 9*time.Second, Kind: kindClosed, Client: 1})
			s.lease("w2.1", lease{op: 902, name: "job", ask: at + 4*ms, no: at + 4*time.Second})
		}, nemesis.Excuses{Wait: true}},
		{"unexplained wait", func(s *tale) { // the other one was cut off, which is nothing to him
			s.cutOff("w1", at, at+9*time.Second)
			s.lease("w2.1", lease{op: 902, name: "job", ask: at, no: at + 9*time.Second, ttl: longTTL})
		}, nemesis.Excuses{Wait: true}},
		{"starved", func(s *tale) {
			s.lease("w1.1", lease{op: 900, name: "job", style: devoted, ask: at, no: at + 12*time.Second})
			for i := range 120 {
				from := at + time.Duration(i)*100*ms
				s.lease("w2.1", lease{
					op: int64(1000 + i), name: "job", ask: from, got: from + ms, out: from + 99*ms,
					left: from + 99*ms, token: uint64(1000 + i),
				})
			}
		}, nemesis.Excuses{}},
		{"lock left behind", func(s *tale) {
			s.tell(controller, event{At: 60 * time.Second, Kind: kindResidue, Name: "job", Owner: "x:1", Text: "11"})
		}, nemesis.Excuses{}},
		{"goroutines", func(s *tale) {
			s.tell("w1.1", event{At: 61 * time.Second, Kind: kindGone, N: 50})
		}, nemesis.Excuses{}},
		{"re-entry", func(s *tale) {
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at, got: at + ms, out: at + 10*ms, left: at + 11*ms, token: 901,
			})
			s.tell("w1.1", event{At: at + 5*ms, Kind: kindNo, Op: 901, Style: inside, Class: classHeld})
		}, nemesis.Excuses{}},
		{"not at rest", func(s *tale) {
			s.tell(controller, event{At: 60 * time.Second, Kind: kindGone, Text: "500 files are open"})
		}, nemesis.Excuses{}},
		{"unconfirmed", func(s *tale) {
			s.files[controller][0].Plan.Acks = true
			s.window(replicaAway, at, at+2*time.Second, nemesis.Excuses{})
			s.lease("w1.1", lease{
				op: 901, name: "job", ask: at + time.Second, got: at + 1001*ms, out: at + 1010*ms,
				left: at + 1011*ms, token: 901,
			})
		}, nemesis.Excuses{}},
	} {
		t.Run(c.oracle, func(t *testing.T) {
			s := healthy(t)
			c.plant(s)
			r := s.judge()
			if r.Verdict != audit.Violated || oracles(r)[c.oracle] == 0 {
				t.Errorf("not found; got %v", r.Violations)
			}
			if c.excuse == (nemesis.Excuses{}) {
				return
			}
			s.window("excuse", at-ms, at+10*time.Second, c.excuse)
			if r := s.judge(); oracles(r)[c.oracle] != 0 {
				t.Errorf("found in spite of its excuse: %v", r.Violations)
			}
		})
	}
}

// Porcupine comes to its own conclusion.
func TestPorcupineFindsTwoAtOnce(t *testing.T) {
	const at = 20 * time.Second
	s := healthy(t)
	s.lease("w1.1", lease{op: 901, name: "job", ask: at, got: at + ms, out: at + 100*ms, left: at + 101*ms, token: 901})
	s.lease("w2.1", lease{
		op: 902, name: "job", ask: at + 10*ms, got: at + 50*ms, out: at + 60*ms, left: at + 61*ms,
		token: 902,
	})
	if r := s.judge(); oracles(r)["linearizable"] == 0 {
		t.Errorf("not found; got %v", r.Violations)
	}
}

// A process that did not run is not to blame, and neither is a store for it.
func TestStallsExcuse(t *testing.T) {
	const at = 20 * time.Second
	s := healthy(t)
	s.lease("w1.1", lease{
		op: 901, name: "job", ask: at, got: at + ms, good: at + 990*ms, ended: at + 1000*ms, token: 901,
	})
	s.lease("w1.1", lease{op: 902, name: "job", ask: at, until: at + 100*ms, no: at + 600*ms})
	s.tell("w1.1", event{From: at + 50*ms, At: at + 590*ms, Kind: kindStall})
	// Granted at once, and heard of when the process went on. It was seen running last just
	// before it asked.
	s.lease("w1.1", lease{
		op: 903, name: "late", ask: at + 3*time.Second, got: at + 5100*ms, out: at + 5110*ms, left: at + 5111*ms,
		token: 903,
	})
	s.lease("w2.1", lease{
		op: 904, name: "late", ask: at + 3010*ms, got: at + 5112*ms, out: at + 5120*ms, left: at + 5121*ms, token: 904,
	})
	s.tell("w1.1", event{From: at + 2999*ms, At: at + 5090*ms, Kind: kindStall})
	if r := s.judge(); r.Verdict != audit.Clean {
		t.Errorf("got %v", r.Violations)
	}
}

// Who stands in line and is cut off may be granted the lock: for as long as its claim lives, and no longer.
func TestALostClaimExplainsAWait(t *testing.T) {
	const at = 20 * time.Second
	for wait, verdict := range map[time.Duration]audit.Verdict{
		6 * time.Second: audit.Clean, 15 * time.Second: audit.Violated,
	} {
		s := healthy(t)
		s.cutOff("w1", at, at+ms)
		s.lease("w1.1", lease{op: 901, name: "job", ask: at - ms, no: at + ms, ttl: longTTL})
		s.lease("w2.1", lease{
			op: 902, name: "job", ask: at, got: at + wait, out: at + wait + ms, left: at + wait + 2*ms,
			token: 902, ttl: longTTL,
		})
		if got := oracles(s.judge())["unexplained wait"] > 0; got != (verdict == audit.Violated) {
			t.Errorf("waited for %v: found %v", wait, got)
		}
	}
}

// Who gave up may have been granted the lock all the same, and gives it back. If it ends before it
// could, the lock is free when its time is over, and no later; if it could, at once.
func TestWhatWasNotGivenBackExplainsAWait(t *testing.T) {
	const (
		at  = 20 * time.Second
		ttl = 4 * time.Second
	)
	killed := func(after time.Duration) func(*tale) {
		return func(s *tale) { s.tell(controller, event{At: at + after, Kind: kindKill, Text: "w1.1"}) }
	}
	closed := func(why class) func(*tale) {
		return func(s *tale) {
			s.tell("w1.1",
				event{At: at + 8*ms, Kind: kindClosing, Client: 1, Until: at + time.Second},
				event{At: at + time.Second, Kind: kindClosed, Client: 1, Class: why})
		}
	}
	for name, c := range map[string]struct {
		end   func(*tale)
		doubt bool
		wait  time.Duration
		found bool
	}{
		"killed at once":                   {killed(8 * ms), true, ttl, false},
		"killed at once, long ago":         {killed(8 * ms), true, ttl + 3*time.Second, true},
		"killed later":                     {killed(3 * time.Second), true, ttl, true},
		"killed, and certain of its no":    {killed(8 * ms), false, ttl, true},
		"closed, and not all was released": {closed(classFailed), true, ttl, false},
		"closed, and all was released":     {closed(""), true, ttl, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			s.lease("w1.1", lease{op: 901, name: "job", ask: at - ms, no: at, doubt: c.doubt, ttl: ttl})
			c.end(s)
			s.lease("w2.1", lease{
				op: 902, name: "job", ask: at, got: at + c.wait, out: at + c.wait + ms, left: at + c.wait + 2*ms,
				token: 902,
			})
			if r := s.judge(); oracles(r)["stood free"] > 0 != c.found {
				t.Errorf("found: %v, want %v: %v", !c.found, c.found, r.Violations)
			}
		})
	}
}

// In a store that keeps what a client had for longer than a lease, a process that stands still holds the others up
// until it goes on, or is given up: by what it had, by what it has left for a time, and by its place in the line. In
// one that passes locks on it does by its place, as long as a claim lives.
func TestWhoStandsStillHoldsOthersUp(t *testing.T) {
	const at = 20 * time.Second
	had := lease{op: 901, name: "job", ask: at, got: at + ms, token: 901, good: at + 10*ms, ended: at + 3*time.Second}
	leaving := lease{
		op: 901, name: "job", ask: at, got: at + ms, token: 901, out: at + 2*ms, left: at + 3*ms, minHold: 100 * ms,
	}
	waiting := lease{op: 901, name: "job", ask: at, no: at + 3*time.Second}
	claiming := lease{op: 901, name: "job", ask: at, no: at + 3*time.Second, ttl: longTTL}
	late := lease{op: 901, name: "job", ask: at + 2990*ms, no: at + 3*time.Second}
	for name, c := range map[string]struct {
		stopped lease
		dies    time.Duration // when the store gives it up
		passes  bool
		found   bool
	}{
		"it had it":                    {had, time.Minute, false, false},
		"it was about to leave it":     {leaving, time.Minute, false, false},
		"it stood in line":             {waiting, time.Minute, false, false},
		"it had it, and was given up":  {had, 100 * ms, false, true},
		"it stood in line, given up":   {waiting, 100 * ms, false, true},
		"it asked when it had gone on": {late, time.Minute, false, true},
		"leases end in the store":      {waiting, 0, false, true},
		"it was passed the lock":       {claiming, 0, true, false},
		"its claim was short":          {waiting, 0, true, true},
		"nothing was passed on":        {claiming, 0, false, true},
		"it had it, and lost it":       {had, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			s.files[controller][0].Plan.AfterDeath, s.files[controller][0].Plan.Passing = c.dies, c.passes
			s.lease("w1.1", c.stopped)
			s.tell("w1.1", event{At: at + 2980*ms, Kind: kindStall, From: at + 20*ms})
			s.lease("w2.1", lease{
				op: 902, name: "job", ask: at + 10*ms, got: at + 3010*ms, out: at + 3020*ms, left: at + 3021*ms,
				token: 902,
			})
			if r := s.judge(); oracles(r)["stood free"] > 0 != c.found {
				t.Errorf("found: %v, want %v: %v", !c.found, c.found, r.Violations)
			}
		})
	}
}

// A lock that was released by force may be had twice, and no other.
func TestForceExcusesOneLock(t *testing.T) {
	const at = 20 * time.Second
	for name, verdict := range map[string]audit.Verdict{"job": audit.Clean, "another": audit.Violated} {
		s := healthy(t)
		s.lease("w1.1", lease{
			op: 901, name: "job", ask: at, got: at + ms, out: at + 100*ms, left: at + 101*ms, token: 901,
		})
		s.lease("w2.1", lease{
			op: 902, name: "job", ask: at, got: at + 50*ms, out: at + 60*ms, left: at + 61*ms, token: 902,
		})
		s.tell(controller, event{At: at + 40*ms, Kind: kindFault, Window: &nemesis.Window{
			Kind: "released by force", From: at + 30*ms, To: at + 40*ms,
			Excuses: nemesis.Excuses{Loss: true, Twice: true}, Effect: nemesis.Effect{Evidence: "told", Lock: name},
		}})
		if r := s.judge(); r.Verdict != verdict {
			t.Errorf("%s: %s, want %s: %v", name, r.Verdict, verdict, r.Violations)
		}
	}
}

// A release that only a master heard that is none any more, or that one has forgotten,
// leaves the lock for the rest of its life; at any other time it does not.
func TestAReleaseThatIsForgottenExcuses(t *testing.T) {
	const at = 20 * time.Second
	for what, excuses := range map[audit.Verdict]nemesis.Excuses{
		audit.Clean: {Loss: true, Wait: true, Twice: true}, audit.Violated: {Loss: true, Wait: true},
	} {
		s := healthy(t)
		s.lease("w1.1", lease{
			op: 901, name: "job", ask: at, got: at + ms, out: at + 50*ms, left: at + 51*ms, token: 901, ttl: longTTL,
		})
		s.lease("w2.1", lease{op: 902, name: "job", ask: at + 60*ms, no: at + 6*time.Second})
		s.tell(controller, event{At: at20, Kind: kindFault, Window: &nemesis.Window{
			Kind: "fail-over", From: at + 20*ms, To: at + 500*ms, Excuses: excuses,
			Effect: nemesis.Effect{Evidence: "it was followed by another"},
		}})
		if r := s.judge(); r.Verdict != what {
			t.Errorf("%+v: %s, want %s: %v", excuses, r.Verdict, what, r.Violations)
		}
	}
}

// A run in which a fault cannot be shown, or too little was done, proves nothing.
func TestInconclusive(t *testing.T) {
	for name, spoil := range map[string]func(s *tale){
		"no evidence": func(s *tale) {
			s.tell(controller, event{At: at20, Kind: kindFault, Window: &nemesis.Window{
				Kind: "x", From: at20, To: at20,
				Problem: "it did not happen",
			}})
		},
		"no traffic before":             func(s *tale) { s.window("early", 2, 3, nemesis.Excuses{}) },
		"nothing passed on":             func(s *tale) { s.files[controller][0].Plan.Mixed = true },
		"nothing passed on by a server": func(s *tale) { s.files[controller][0].Plan.Passing = true },
		"not finished": func(s *tale) {
			events := s.files[controller]
			s.files[controller] = events[:len(events)-1]
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			spoil(s)
			if r := s.judge(); r.Verdict != audit.Inconclusive || len(r.Doubts) == 0 {
				t.Errorf("got %s", r.Verdict)
			}
		})
	}
}

const at20 = 20 * time.Second
