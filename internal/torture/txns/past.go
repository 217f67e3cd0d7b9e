package txns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/txn"
)

// past is the history of a run, put together.
type past struct {
	settings

	began, calm, finished time.Duration
	stories               map[string]*story
	windows               []nemesis.Window
	calls                 map[branchOp][]call
	effects               map[branch][]string
	sums                  map[string]int64
	usage                 []event
	doubts                []string
}

// branch names one branch of one transaction.
type branch struct{ id, name string }

// branchOp names one operation of it.
type branchOp struct {
	branch

	op string
}

// call is one call of a participant, as that has seen it.
type call struct {
	from, to time.Duration
	attempt  int
	epoch    int64
	answer   string
	again    bool // by the network
}

// story is everything about one transaction.
type story struct {
	id, mode string
	fate     fate

	begun, told time.Duration
	result      txn.Outcome
	reason      string
	failed      bool
	never       string // why its client was told that it was not accepted

	ops     []branchOp // that were called
	commits []event
	parked  time.Duration // when its client was told so
	acts    []event

	recorded bool
	status   txn.Outcome
	still    string // why it is parked at the end
	epoch    int64
}

// namePrefix begins the name of every run.
const namePrefix = "transactions on "

// IsHistory reports whether a folder has the history of a run of transactions, be it damaged.
func IsHistory(dir string) (is bool) {
	// What is wrong with it is told when it is judged.
	_ = history.Read(dir, controller, func(e *struct{ Plan *settings }) {
		is = is || e.Plan != nil && strings.HasPrefix(e.Plan.Name, namePrefix)
	})
	return is
}

// readPast reads the history in a folder.
func readPast(dir string) (*past, error) {
	p := &past{stories: map[string]*story{}, calls: map[branchOp][]call{}, effects: map[branch][]string{}}
	names, err := history.Lives(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := history.Read(dir, name, p.see); err != nil {
			return nil, err
		}
	}
	if p.began == 0 {
		return nil, fmt.Errorf("%s %w of transactions", dir, history.ErrNone)
	}
	if p.finished == 0 {
		p.doubts = append(p.doubts, "the run was not finished")
		p.finished = p.calm
	}
	for _, calls := range p.calls {
		slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(a.from, b.from) })
	}
	return p, nil
}

func (p *past) story(e *event) *story {
	s := p.stories[e.ID]
	if s == nil {
		s = &story{id: e.ID}
		p.stories[e.ID] = s
	}
	return s
}

func (p *past) see(e *event) {
	switch e.Kind {
	case kindBegin:
		p.began, p.settings = e.At, *e.Plan
	case kindCalm:
		p.calm = e.At
	case kindFinish:
		p.finished = e.At
	case kindFault:
		p.windows = append(p.windows, *e.Window)
	case kindDoubt:
		p.doubts = append(p.doubts, e.Text)
	case kindSums:
		p.sums = e.Numbers
	case kindUsage:
		p.usage = append(p.usage, *e)
	case kindEffect:
		b := branch{e.ID, e.Branch}
		p.effects[b] = append(p.effects[b], e.Op)
	case kindCall:
		op := branchOp{branch{e.ID, e.Branch}, e.Op}
		if s := p.story(e); p.calls[op] == nil {
			s.ops = append(s.ops, op)
		}
		p.calls[op] = append(p.calls[op], call{e.From, e.At, e.Attempt, e.Epoch, e.Answer, e.Again})
	default:
		p.addToStory(p.story(e), e)
	}
}

// addToStory understands what is about one transaction.
func (p *past) addToStory(s *story, e *event) {
	switch e.Kind {
	case kindBegun:
		s.begun, s.fate, s.mode = e.At, e.Fate, e.Mode
	case kindTold:
		s.told, s.result, s.reason, s.failed = e.At, e.Result, e.Text, e.Failed
	case kindNever:
		s.never = e.Text
	case kindCommit:
		s.commits = append(s.commits, *e)
	case kindParked:
		s.parked = e.At
	case kindAct:
		s.acts = append(s.acts, *e)
	case kindRecord:
		s.recorded, s.status, s.still, s.epoch = true, e.Result, e.Parked, e.Epoch
		s.mode = cmp.Or(s.mode, e.Mode)
	default:
	}
}

// letter reports whether a transaction is a message of its own that a branch has written.
func (s *story) letter() bool { return strings.HasPrefix(s.id, "async-") }

func (p *past) since(at time.Duration) time.Duration { return at - p.began }

// excused tells which fault excuses how a transaction ended.
func (p *past) excused(from, to time.Duration) string {
	for i := range p.windows {
		if w := &p.windows[i]; w.Excuses.Outcome && w.Meets(from, to, recovery) {
			return w.Kind
		}
	}
	return ""
}

// recovery is how long after a fault its effects may still be seen.
const recovery = 2 * time.Second
