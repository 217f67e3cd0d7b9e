package locks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// span is a time with a beginning and an end.
type span struct{ from, to time.Duration }

// past is the history of a run, put together.
type past struct {
	settings

	began, finished time.Duration
	writes          int // that the guarded resource let through
	lives           map[string]*life
	leases          []*lease // in the order in which they were asked for
	windows         []nemesis.Window
	slow            []span
	lost            []loss
	refused         []refusal
	residue         []event
	reentries       []*lease // entered again under a lease, and refused
	kept, passed    int
	complaints      []event
	doubts          []string
}

// life is one life of one worker.
type life struct {
	name, worker string
	pid          string
	stalls       []span
	killed       time.Duration // zero: it was not
	born, gone   int           // goroutines
	ends         map[int]*end  // of its clients, by number
	afterDeath   time.Duration // for how much longer than a lease the store keeps what it had when it died
	slack        time.Duration // and what it has left for a time
	isPassed     bool          // locks, by the store
}

// stays is for how long the store may keep a lock of a client that has gone without a word.
func (l *life) stays(ttl time.Duration) time.Duration { return ttl + l.afterDeath + l.slack }

// end is the end of a client.
type end struct {
	call, until, returned time.Duration
	class                 class
	text                  string
}

// lease is everything about one lease, or about the attempt to have one.
type lease struct {
	life   *life
	client int
	name   string
	style  style
	op     int64

	ttl, minHold time.Duration
	ask, until   time.Duration
	got, no      time.Duration
	class        class // why there was none
	doubt        bool  // it may have been granted all the same
	text         string
	token        uint64

	good  time.Duration // when it could last be relied on
	ended time.Duration // when its end was seen that nobody had asked for
	why   class

	out, outUntil, left time.Duration
	leftClass           class
}

// loss is a lease that was lost.
type loss struct {
	life          *life
	name          string
	good, noticed time.Duration
	ttl           time.Duration
	answer        time.Duration // how long the store took to grant it, or to take it back, if that is known
	text          string
}

// refusal is a write that the guarded resource has refused.
type refusal struct {
	lease *lease
	at    time.Duration
	token uint64
}

// readPast reads the history in a folder.
func readPast(dir string) (*past, error) {
	p := &past{lives: map[string]*life{}}
	names, err := history.Lives(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		see := p.controller
		if name != controller {
			see = p.reader(name)
		}
		if err := history.Read(dir, name, see); err != nil {
			return nil, err
		}
	}
	if p.began == 0 {
		return nil, fmt.Errorf("%s %w of locks", dir, history.ErrNone)
	}
	for _, l := range p.lives {
		l.afterDeath, l.slack, l.isPassed = p.AfterDeath, p.Slack, p.Passing || p.Mixed
	}
	p.bury()
	slices.SortFunc(p.leases, func(a, b *lease) int { return cmp.Compare(a.ask, b.ask) })
	return p, nil
}

func (p *past) lifeOf(name string) *life {
	l := p.lives[name]
	if l == nil {
		worker, _, _ := strings.Cut(name, ".")
		l = &life{name: name, worker: worker, ends: map[int]*end{}}
		p.lives[name] = l
	}
	return l
}

// controller understands the lines of the controller.
func (p *past) controller(e *event) {
	switch e.Kind {
	case kindBegin:
		p.began, p.settings = e.At, *e.Plan
	case kindFinish:
		p.finished, p.writes = e.At, e.N
	case kindFault:
		p.windows = append(p.windows, *e.Window)
	case kindKill:
		p.lifeOf(e.Text).killed = e.At
	case kindSlow, kindStall:
		p.slow = append(p.slow, span{e.From, e.At})
	case kindResidue:
		p.residue = append(p.residue, *e)
	case kindDoubt:
		p.doubts = append(p.doubts, e.Text)
	case kindGone:
		p.complaints = append(p.complaints, *e)
	default:
	}
}

// reader understands the lines of one life of a worker.
func (p *past) reader(name string) func(*event) {
	l := p.lifeOf(name)
	open := map[int64]*lease{}
	return func(e *event) {
		switch e.Kind {
		case kindBorn:
			l.born, l.pid = e.N, strconv.Itoa(e.M)
		case kindGone:
			l.gone = e.N
		case kindStall:
			l.stalls = append(l.stalls, span{e.From, e.At})
		case kindTally:
			p.kept += e.N
			p.passed += e.M
		case kindKept:
			p.lost = append(p.lost, loss{l, e.Name, e.Good, e.At, e.TTL, e.Took, e.Text})
		case kindClosing:
			l.ends[e.Client] = &end{call: e.At, until: e.Until}
		case kindClosed:
			c := l.ends[e.Client]
			c.returned, c.class, c.text = e.At, e.Class, e.Text
		case kindAsk:
			lease := &lease{
				life: l, client: e.Client, name: e.Name, style: e.Style, op: e.Op,
				ttl: e.TTL, minHold: e.MinHold, ask: e.At, until: e.Until,
			}
			open[e.Op] = lease
			p.leases = append(p.leases, lease)
		default:
			p.addToLease(open[e.Op], e)
		}
	}
}

// addToLease understands a line about a lease.
func (p *past) addToLease(l *lease, e *event) {
	switch e.Kind {
	case kindGot:
		l.got, l.good, l.token = e.At, e.At, e.Token
	case kindNo:
		if e.Style == inside {
			p.reentries = append(p.reentries, &lease{life: l.life, name: l.name, no: e.At, text: e.Text})
			return
		}
		l.no, l.class, l.text, l.doubt = e.At, e.Class, e.Text, e.Doubt
	case kindGood:
		l.good = max(l.good, e.At)
	case kindEnd:
		l.good, l.ended, l.why = max(l.good, e.Good), e.At, e.Class
		if e.Class == classLost && l.style != fixed {
			p.lost = append(p.lost, loss{l.life, l.name, l.good, e.At, l.ttl, 0, e.Text})
		}
	case kindOut:
		l.good, l.out, l.outUntil = max(l.good, e.Good), e.At, e.Until
	case kindLeft:
		l.left, l.leftClass = e.At, e.Class
	case kindRefused:
		p.refused = append(p.refused, refusal{l, e.At, e.Token})
	default:
	}
}

// bury ends what a run that was broken off has left open.
func (p *past) bury() {
	if p.finished == 0 {
		p.doubts = append(p.doubts, "the run was not finished")
		for _, l := range p.leases {
			p.finished = max(p.finished, l.ask)
		}
	}
}

// grants are the leases that were had, by name, in the order in which they were got.
func (p *past) grants() map[string][]*lease {
	byName := map[string][]*lease{}
	for _, l := range p.leases {
		if l.got > 0 {
			byName[l.name] = append(byName[l.name], l)
		}
	}
	for _, list := range byName {
		slices.SortFunc(list, func(a, b *lease) int { return cmp.Compare(a.got, b.got) })
	}
	return byName
}

// since is a time for the report.
func (p *past) since(at time.Duration) time.Duration { return at - p.began }

// window is the first fault that excuses something of a lock, and of a worker, in a span of time; an
// empty worker stands for all.
func (p *past) window(name string, from, to, after time.Duration, worker string,
	excuses func(nemesis.Excuses) bool,
) *nemesis.Window {
	for i := range p.windows {
		w := &p.windows[i]
		if excuses(w.Excuses) && w.Concerns(name) && (worker == "" || w.Hits(worker)) && w.Meets(from, to, after) {
			return w
		}
	}
	return nil
}

// stalled is for how long a process did not run in a span of time.
func (l *life) stalled(from, to time.Duration) time.Duration { return coveredTime(l.stalls, from, to) }

// coveredTime is how much of a span of time others cover that do not meet.
func coveredTime(spans []span, from, to time.Duration) (total time.Duration) {
	for _, s := range spans {
		total += max(min(s.to, to)-max(s.from, from), 0)
	}
	return total
}

// merge makes spans that do not meet of spans that may.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var merged []span
	for _, s := range spans {
		if n := len(merged); n > 0 && s.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, s.to)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}
