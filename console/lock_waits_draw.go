package console

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// The measures of the drawing, in its own units.
const (
	mostDrawn    = 40
	nodeHeight   = 26
	letterWidth  = 8
	arcApart     = 4 // so that two locks whose holders wait for one another have two arcs
	arcStep      = 16
	arcWidest    = 200
	arcNarrowest = 110
)

// drawnWaits is one drawing in two layouts; a window shows the one that fits it.
type drawnWaits struct {
	Wide, Narrow *arcDrawing
	Omitted      int // locks not drawn
}

// arcDrawing has the locks below one another, and an arc from each to what its holders wait for.
type arcDrawing struct {
	Class         string
	Width, Height int
	TextWidth     int // letters that are wider than most are cut off there
	DotX          int
	Nodes         []arcNode
	Arcs          []arc
}

// arcNode is a lock.
type arcNode struct {
	Top, Y      int
	Label, Name string
	Circle      bool
}

// arc is a wait: a curve, and the head of an arrow where it ends.
type arc struct {
	Path, Head string
	Title      string
	Circle     bool
}

// drawWaits draws locks in an order; nil when nobody waits.
func (g *waitGraph) drawWaits(order []string, inCircle map[string]int) *drawnWaits {
	if len(order) == 0 {
		return nil
	}
	shown := order[:min(len(order), mostDrawn)]
	wide := &arcDrawing{Class: "wide", Width: 760}
	narrow := &arcDrawing{Class: "narrow", Width: 330}
	wide.drawAll(g, shown, inCircle, 58, arcWidest)
	narrow.drawAll(g, shown, inCircle, 21, arcNarrowest)
	return &drawnWaits{Wide: wide, Narrow: narrow, Omitted: len(order) - len(shown)}
}

func (d *arcDrawing) drawAll(g *waitGraph, shown []string, inCircle map[string]int, letters, bulge int) {
	at, longest := make(map[string]int, len(shown)), 0
	for i, name := range shown {
		at[name] = i
		top, label := nodeHeight*i, cut(name, letters)
		longest = max(longest, utf8.RuneCountInString(label))
		d.Nodes = append(d.Nodes, arcNode{
			Top: top, Y: top + nodeHeight/2, Label: label, Name: name, Circle: inCircle[name] > 0,
		})
	}
	d.TextWidth = letterWidth * (longest + 2) // and the sign of a circle
	d.DotX = d.TextWidth + 10
	for _, from := range shown {
		for _, a := range g.arrows[from] {
			if to, drawn := at[a.To]; drawn {
				one := d.arcBetween(at[from], to, bulge)
				one.Title = a.sentence()
				one.Circle = inCircle[from] > 0 && inCircle[from] == inCircle[a.To] && len(g.binding(from)) > 0
				d.Arcs = append(d.Arcs, one)
			}
		}
	}
	d.Height = nodeHeight * len(shown)
}

// arcBetween bulges to the right, the further the longer it is.
func (d *arcDrawing) arcBetween(from, to, widest int) arc {
	y1, y2 := d.Nodes[from].Y+arcApart, d.Nodes[to].Y-arcApart
	x := d.DotX + 8
	far := x + min(24+arcStep*max(from-to, to-from), widest)
	return arc{
		Path: fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x, y1, far, y1, far, y2, x+6, y2),
		Head: fmt.Sprintf("%d,%d %d,%d %d,%d", x, y2, x+8, y2-4, x+8, y2+4),
	}
}

// sentence says a wait in words.
func (a *arrow) sentence() string {
	who := a.Process
	if who == "" {
		who = a.Owner
	}
	return fmt.Sprintf("%s has %s and waits for %s", who, a.From, a.To)
}

// drawingOrder puts the locks below one another so that most arcs are short: who waits, and then what for.
func (g *waitGraph) drawingOrder() []string {
	names := g.names()
	awaited := make(map[string]bool)
	for _, arrows := range g.arrows {
		for _, a := range arrows {
			awaited[a.To] = true
		}
	}
	firsts := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return awaited[name] })
	order, placed := []string{}, make(map[string]bool)
	for _, first := range append(firsts, names...) { // whatever is in a circle is awaited
		for stack := []string{first}; len(stack) > 0; {
			name := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if placed[name] {
				continue
			}
			placed[name] = true
			order = append(order, name)
			for _, a := range slices.Backward(g.arrows[name]) {
				stack = append(stack, a.To)
			}
		}
	}
	return order
}
