package console

import (
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/txn"
)

// The measures of the drawing, in its own units.
const (
	plotLeft   = 200
	plotWidth  = 740
	plotTop    = 30
	laneHeight = 26
	barHeight  = 14
	barLeast   = 4 // so that a quick call can be seen
	mostLanes  = 60
	mostTicks  = 7
)

// timeline is the drawing of all attempts: a lane for each operation, time from
// left to right.
type timeline struct {
	Width, Height, Left, Right, Top, Bottom int

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
	X, Width float64
	Y        int
	Tone     string
	Title    string
}

// mark is a moment that belongs to the whole transaction.
type mark struct {
	X     float64
	Tone  string
	Title string
}

// draw makes the timeline; nil when nothing has happened.
func draw(t *txn.Transaction) *timeline {
	if len(t.Attempts) == 0 {
		return nil
	}
	s := scaleOf(t)
	lanes := lanesOf(t)
	tl := &timeline{Width: plotLeft + plotWidth + 20, Left: plotLeft, Right: plotLeft + plotWidth, Top: plotTop}
	tl.Omitted = max(len(lanes)-mostLanes, 0)
	tl.Lanes = lanes[:len(lanes)-tl.Omitted]
	for i, l := range tl.Lanes {
		l.place(i)
	}
	for i := range t.Attempts {
		tl.add(&t.Attempts[i], s)
	}
	if !t.Decided.IsZero() {
		tl.Marks = append(tl.Marks, mark{s.x(t.Decided), tone(t.Status), "decided at +" + brief(t.Decided.Sub(s.from))})
	}
	tl.Bottom = plotTop + len(tl.Lanes)*laneHeight + 4
	tl.Height = tl.Bottom + 12
	tl.Ticks = s.ticks()
	return tl
}

// lanesOf lists what has been called and, where nobody was, what would be first.
func lanesOf(t *txn.Transaction) []*lane {
	called := make(map[string][]string) // operations by branch, in their order
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if a.Number > 0 && !slices.Contains(called[a.Branch], a.Op) {
			called[a.Branch] = append(called[a.Branch], a.Op)
		}
	}
	var lanes []*lane
	add := func(branch, op string, dim bool) {
		lanes = append(lanes, &lane{key: [2]string{branch, op}, Branch: cut(branch, 18), Op: cut(op, 10), Dim: dim})
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

func (l *lane) place(i int) {
	l.Y = plotTop + i*laneHeight
	l.TextY, l.LineY = l.Y+17, l.Y+laneHeight
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
	l, from := tl.Lanes[i], s.x(a.At)
	l.Bars = append(l.Bars, bar{
		X: from, Width: max(s.x(a.At.Add(a.Took))-from, barLeast), Y: l.Y + (laneHeight-barHeight)/2, Tone: answerTone(a.Answer),
		Title: fmt.Sprintf("%s %s, attempt %d: %s after %s", a.Branch, a.Op, a.Number, a.Answer, brief(a.Took)),
	})
}
