package txns

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/txn"
)

const ms = time.Millisecond

// tale is a history that is told rather than recorded.
type tale struct {
	t      *testing.T
	events []event
}

// healthy is a run in which all is well: 150 sagas that commit.
func healthy(t *testing.T) *tale {
	s := &tale{t: t}
	s.tell(event{At: 1, Kind: kindBegin, Plan: &settings{Name: "told"}})
	for i := range 150 {
		s.saga(fmt.Sprintf("saga-normal-%d", i), normal, time.Duration(i+1)*50*ms, txn.Committed)
	}
	s.window("replica killed", 6*time.Second, 6*time.Second+ms, nemesis.Excuses{})
	s.tell(event{At: 20 * time.Second, Kind: kindCalm}, event{At: 60 * time.Second, Kind: kindFinish},
		event{At: 60 * time.Second, Kind: kindSums, Numbers: map[string]int64{"balance": numAccounts * opening}})
	return s
}

func (s *tale) tell(events ...event) { s.events = append(s.events, events...) }

func (s *tale) window(kind string, from, to time.Duration, excuses nemesis.Excuses) {
	s.tell(event{At: to, Kind: kindFault, Window: &nemesis.Window{
		Kind: kind, From: from, To: to, Excuses: excuses, Effect: nemesis.Effect{Evidence: "told"},
	}})
}

// saga tells of one that ends, with the calls and effects that go with that.
func (s *tale) saga(id string, f fate, at time.Duration, outcome txn.Outcome) {
	s.tell(event{At: at, Kind: kindBegun, ID: id, Fate: f, Mode: "saga"},
		event{At: at + 10*ms, Kind: kindTold, ID: id, Fate: f, Mode: "saga", Result: outcome},
		event{At: 60 * time.Second, Kind: kindRecord, ID: id, Mode: "saga", Result: outcome})
	if outcome != txn.Committed {
		return
	}
	for i, branch := range []string{"debit", "credit"} {
		from := at + time.Duration(i)*2*ms
		s.tell(event{
			From: from, At: from + ms, Kind: kindCall, ID: id, Branch: branch, Op: "action", Attempt: 1,
			Answer: answerDone,
		},
			event{At: 60 * time.Second, Kind: kindEffect, ID: id, Branch: branch, Op: "action"})
	}
}

func (s *tale) call(id, branch, op string, attempt int, from time.Duration, answer string) {
	s.tell(event{
		From: from, At: from + ms, Kind: kindCall, ID: id, Branch: branch, Op: op, Attempt: attempt,
		Answer: answer,
	})
}

func (s *tale) judge() *audit.Report {
	s.t.Helper()
	dir := s.t.TempDir()
	var text strings.Builder
	for i := range s.events {
		line, err := json.Marshal(&s.events[i])
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n", line)
	}
	if err := os.WriteFile(filepath.Join(dir, "controller.jsonl"), []byte(text.String()), 0o600); err != nil {
		s.t.Fatal(err)
	}
	r, err := Judge(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func TestHealthyRunIsClean(t *testing.T) {
	if r := healthy(t).judge(); r.Verdict != audit.Clean {
		t.Errorf("got %s: %v %v", r.Verdict, r.Violations, r.Doubts)
	}
}

// Each oracle finds the fault that is planted for it in a healthy history.
func TestOraclesFindWhatIsPlanted(t *testing.T) {
	const at = 10 * time.Second
	record := func(id string, status txn.Outcome, parked string) event {
		return event{At: 60 * time.Second, Kind: kindRecord, ID: id, Mode: "saga", Result: status, Parked: parked}
	}
	for name, c := range map[string]struct {
		oracle string
		plant  func(s *tale)
	}{
		"money is made": {"money", func(s *tale) {
			s.tell(event{Kind: kindSums, Numbers: map[string]int64{"balance": numAccounts*opening + 1}})
		}},
		"money stays frozen": {"money", func(s *tale) {
			s.tell(event{Kind: kindSums, Numbers: map[string]int64{"balance": numAccounts * opening, "frozen": 3}})
		}},
		"another outcome than told": {"told", func(s *tale) {
			s.saga("x", normal, at, txn.Committed)
			s.tell(record("x", txn.RolledBack, ""))
		}},
		"told, and then forgotten": {"told", func(s *tale) {
			s.tell(event{At: at, Kind: kindBegun, ID: "x", Fate: normal}, event{
				At: at, Kind: kindTold, ID: "x",
				Result: txn.Committed,
			})
		}},
		"accepted, though told otherwise": {"told", func(s *tale) {
			s.saga("x", once, at, txn.Committed)
			s.tell(event{At: at, Kind: kindNever, ID: "x", Text: "unavailable"})
		}},
		"committed, though refused": {"told", func(s *tale) { s.saga("x", closed, at, txn.Committed) }},
		"never ends":                {"stuck", func(s *tale) { s.tell(record("x", txn.Running, "")) }},
		"a client waits for ever": {"stuck", func(s *tale) {
			s.tell(event{
				At: at, Kind: kindBegun, ID: "x",
				Fate: normal,
			})
		}},
		"decided, and parked": {"stuck", func(s *tale) {
			s.tell(record("x", txn.RollingBack,
				"credit failed 2 times"))
		}},
		"rolled back for nothing": {"rolled back", func(s *tale) { s.saga("x", lettered, at, txn.RolledBack) }},
		"committed too late": {"late commit", func(s *tale) {
			s.tell(event{At: at, Kind: kindCommit, ID: "saga-normal-1", Late: 300 * ms})
		}},
		"called while parked": {"parked", func(s *tale) {
			s.saga("x", parks, at, txn.Committed)
			s.tell(event{At: at + time.Second, Kind: kindParked, ID: "x"},
				event{At: at + 2*time.Second, Kind: kindAct, ID: "x"})
			s.call("x", "credit", "action", 3, at+1500*ms, answerFailed)
		}},
		"done twice": {"effects", func(s *tale) {
			s.tell(event{Kind: kindEffect, ID: "saga-normal-1", Branch: "debit", Op: "action"})
		}},
		"done and undone, and committed": {"effects", func(s *tale) {
			s.tell(event{Kind: kindEffect, ID: "saga-normal-1", Branch: "debit", Op: "compensate"})
		}},
		"not undone": {"effects", func(s *tale) {
			s.saga("x", closed, at, txn.RolledBack)
			s.tell(event{Kind: kindEffect, ID: "x", Branch: "debit", Op: "action"})
		}},
		"done for nobody": {"effects", func(s *tale) {
			s.tell(event{Kind: kindEffect, ID: "x", Branch: "debit", Op: "action"})
		}},
		"a letter is lost": {"effects", func(s *tale) {
			s.tell(event{At: 60 * time.Second, Kind: kindRecord, ID: "async-1", Mode: "msg", Result: txn.Committed})
		}},
		"called without a pause": {"ladder", func(s *tale) {
			for i := range 8 {
				s.call("saga-normal-1", "debit", "action", i+2, at+time.Duration(i)*2*ms, answerFailed)
			}
		}},
		"called when given up": {"ladder", func(s *tale) {
			s.call("saga-normal-1", "debit", "action", 2, at, answerDone)
			s.call("saga-normal-1", "debit", "action", 1, at+time.Second, answerDone)
		}},
		"done after undo": {"done after undo", func(s *tale) {
			s.saga("x", closed, at, txn.RolledBack)
			s.call("x", "debit", "compensate", 1, at, answerDone)
			s.call("x", "debit", "action", 1, at+time.Second, answerDone)
		}},
		"files pile up": {"files", func(s *tale) {
			s.tell(event{Kind: kindUsage, ID: "r", Text: "at most", Numbers: map[string]int64{"files": 5000}})
		}},
		"a store that is opened again and again": {"files", func(s *tale) {
			s.tell(event{
				Kind: kindUsage, ID: "r", Text: "at most", Numbers: map[string]int64{"files": 300, "store": 200},
			})
		}},
		"a store that is dead when the disk has space again": {"dead", func(s *tale) {
			s.tell(event{
				Kind: kindUsage, ID: "r", Text: "after disk full",
				Numbers: map[string]int64{"dead": int64(10 * time.Second)},
			})
		}},
		"files stay open": {"files", func(s *tale) {
			s.tell(event{
				Kind: kindUsage, ID: "r", Text: "at rest",
				Numbers: map[string]int64{"files": 300, "idle": 20},
			})
		}},
		"a loop without a pause": {"busy", func(s *tale) {
			s.tell(event{Kind: kindUsage, ID: "r", Text: "at rest", Numbers: map[string]int64{"percent": 99}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			c.plant(s)
			r := s.judge()
			found := false
			for _, v := range r.Violations {
				found = found || v.Oracle == c.oracle
			}
			if !found || r.Verdict != audit.Violated {
				t.Errorf("%q has not found it; got %v", c.oracle, r.Violations)
			}
		})
	}
}

// A participant that is away excuses that attempts are used up, a network that repeats
// excuses a call too many, and another coordinator one too early.
func TestExcuses(t *testing.T) {
	const at = 10 * time.Second
	s := healthy(t)
	s.saga("x", crowd, at, txn.RolledBack)
	s.window("service killed", at-ms, at+ms, nemesis.Excuses{Outcome: true})
	s.tell(event{
		From: at, At: at + ms, Kind: kindCall, ID: "saga-normal-1", Branch: "debit", Op: "action", Attempt: 1,
		Again: true, Answer: answerDone,
	})
	for i := range 9 {
		from := at + time.Duration(i)*ms
		s.tell(event{
			From: from, At: from, Kind: kindCall, ID: "saga-normal-2", Branch: "debit", Op: "action",
			Attempt: 2, Epoch: int64(i), Answer: answerFailed,
		})
	}
	if r := s.judge(); r.Verdict != audit.Clean || r.Explained["rolled back: service killed"] != 1 {
		t.Errorf("got %v, explained %v", r.Violations, r.Explained)
	}
}

// A run in which a fault cannot be shown, or too little was done, proves nothing.
func TestInconclusive(t *testing.T) {
	for name, spoil := range map[string]func(s *tale){
		"no evidence": func(s *tale) {
			s.tell(event{Kind: kindFault, Window: &nemesis.Window{
				Kind: "x", From: time.Minute, To: time.Minute,
				Problem: "it did not happen",
			}})
		},
		"no traffic before": func(s *tale) { s.window("early", 2, 3, nemesis.Excuses{}) },
		"not finished":      func(s *tale) { s.events = s.events[:len(s.events)-2] },
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			spoil(s)
			if r := s.judge(); r.Verdict != audit.Inconclusive || len(r.Doubts) == 0 {
				t.Errorf("got %s: %v", r.Verdict, r.Violations)
			}
		})
	}
}
