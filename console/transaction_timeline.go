package console

import (
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/txn"
)

// The measures that all drawings share, in their own units.
const (
	plotTop    = 30
	barHeight  = 14
	thinHeight = 4
	barLeast   = 4 // so that a quick call can be seen
	mostLanes  = 60
)

// layout is how a drawing is laid out: a page has one for desks, with the names of
// operations beside their bars, and one for phones, with the names above them.
type layout struct {
	Class               string
	plotLeft, plotWidth int
	laneHeight          int
	textDown, barDown   int // from the top of a lane
	OpX                 int // where the operation's word ends
	mostTicks           int
	branchMost, opMost  int // letters
}

func wide() layout {
	return layout{
		Class: "wide", plotLeft: 200, plotWidth: 740, laneHeight: 26, textDown: 17, barDown: 6,
		OpX: 188, mostTicks: 7, branchMost: 18, opMost: 10,
	}
}

func narrow() layout {
	return layout{
		Class: "narrow", plotLeft: 10, plotWidth: 310, laneHeight: 40, textDown: 15, barDown: 20,
		OpX: 320, mostTicks: 4, branchMost: 30, opMost: 12,
	}
}

// timelines are one drawing in two layouts; a window shows the one that fits it.
type timelines struct{ Wide, Narrow *timeline }

// timeline is the drawing of all attempts: a lane for each operation, time from
// left to right.
type timeline struct {
	layout

	Width, Height, Right, Top, Bottom int

	Ticks   []tick
	Lanes   []*lane
	Marks   []mark
	Omitted int // lanes not drawn
}

// tick is a line of the scale.
type tick struct {
	X     float64
	Label string
}

// lane is one operation of a branch.
type lane struct {
	Y, TextY, LineY int
	Branch, Op      string // cut to fit
	Bars            []bar
	Dim             bool // nobody was called

	key [2]string // branch and operation
}

// bar is one call.
type bar struct {
	X, Width  float64
	Y, Height int
	Thin      bool // it joins the first and the last of several calls
	Tone      string
	Title     string
}

// mark is a moment that belongs to the whole transaction.
type mark struct {
	X     float64
	Tone  string
	Title string
}

// drawings makes both timelines; nil when nothing has happened.
func drawings(t *txn.Transaction) *timelines {
	if len(t.Attempts) == 0 {
		return nil
	}
	return &timelines{Wide: drawTimeline(t, wide()), Narrow: drawTimeline(t, narrow())}
}

func drawTimeline(t *txn.Transaction, in layout) *timeline {
	s := scaleOf(t, in)
	lanes := in.lanesOf(t)
	right := in.plotLeft + in.plotWidth
	tl := &timeline{layout: in, Width: right + 20, Right: right, Top: plotTop}
	tl.Omitted = max(len(lanes)-mostLanes, 0)
	tl.Lanes = lanes[:len(lanes)-tl.Omitted]
	for i, l := range tl.Lanes {
		tl.place(l, i)
	}
	for i := range t.Attempts {
		tl.add(&t.Attempts[i], s)
	}
	if !t.Decided.IsZero() {
		tl.Marks = append(tl.Marks, mark{s.x(t.Decided), tone(t.Status), "decided at +" + brief(t.Decided.Sub(s.from))})
	}
	tl.Bottom = plotTop + len(tl.Lanes)*tl.laneHeight + 4
	tl.Height = tl.Bottom + 12
	tl.Ticks = s.ticks()
	return tl
}

// lanesOf lists what has been called and, where nobody was, what would be first.
func (in *layout) lanesOf(t *txn.Transaction) []*lane {
	called := make(map[string][]string) // operations by branch, in their order
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if a.Number > 0 && !slices.Contains(called[a.Branch], a.Op) {
			called[a.Branch] = append(called[a.Branch], a.Op)
		}
	}
	var lanes []*lane
	add := func(branch, op string, dim bool) {
		lanes = append(lanes, &lane{
			key: [2]string{branch, op}, Branch: cut(branch, in.branchMost), Op: cut(op, in.opMost), Dim: dim,
		})
	}
	for _, op := range called[""] {
		add("", op, false)
	}
	for i := range t.Branches {
		id := t.Branches[i].ID
		for _, op := range called[id] {
			add(id, op, false)
		}
		if len(called[id]) == 0 {
			add(id, "not called", true)
		}
	}
	return lanes
}

func (in *layout) place(l *lane, i int) {
	l.Y = plotTop + i*in.laneHeight
	l.TextY, l.LineY = l.Y+in.textDown, l.Y+in.laneHeight
}

// add draws an attempt: a bar in its lane, or a mark if a person intervened.
func (tl *timeline) add(a *txn.Attempt, s scale) {
	if a.Number == 0 {
		tl.Marks = append(tl.Marks, mark{s.x(a.At), "person", fmt.Sprintf("%s by %s: %s", a.Answer, a.By, a.Excerpt)})
		return
	}
	i := slices.IndexFunc(tl.Lanes, func(l *lane) bool { return l.key == [2]string{a.Branch, a.Op} })
	if i < 0 {
		return
	}
	l := tl.Lanes[i]
	one := bar{
		Y: l.Y + tl.barDown, Height: barHeight, Tone: answerTone(a.Answer),
		Title: fmt.Sprintf("%s %s, attempt %d: %s after %s", a.Branch, a.Op, a.Number, a.Answer, brief(a.Took)),
	}
	if n := a.Times(); n > 1 {
		one.Title = fmt.Sprintf("%s %s, %d attempts from %d on: %s, within %s", a.Branch, a.Op, n, a.Number, a.Answer,
			brief(a.Last().Sub(a.At)))
		l.Bars = append(l.Bars, one.from(s.x(a.At), s.x(a.At)), one.joining(s.x(a.At), s.x(a.Last())))
	}
	l.Bars = append(l.Bars, one.from(s.x(a.Last()), s.x(a.Last().Add(a.Took))))
}

func (b bar) from(x, to float64) bar {
	b.X, b.Width = x, max(to-x, barLeast)
	return b
}

// joining is the line between the first and the last of several equal calls.
func (b bar) joining(x, to float64) bar {
	b = b.from(x, to)
	b.Y, b.Height, b.Thin = b.Y+(b.Height-thinHeight)/2, thinHeight, true
	return b
}
