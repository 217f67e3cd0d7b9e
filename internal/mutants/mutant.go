package mutants

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Mutant is a deliberate fault and the test that must catch it.
type Mutant struct {
	Name string // says what is wrong
	File string // from the root of the module
	Old  string // occurs in it exactly once
	New  string
	Pkg  string // of the test, from the root of the module
	Test string // as for -run, without the anchors
}

// Misfits lists what no longer fits the code, or is named twice. It is quick: it
// only looks for the texts to be replaced.
func Misfits(ctx context.Context, all []Mutant) ([]string, error) {
	l, err := newLab(ctx)
	if err != nil {
		return nil, err
	}
	defer l.close()
	var complaints []string
	names := make(map[string]bool)
	for i, m := range all {
		if names[m.Name] {
			complaints = append(complaints, m.Name+": two are called so")
		}
		names[m.Name] = true
		if _, err := l.overlay(&m, i); err != nil {
			complaints = append(complaints, fmt.Sprintf("%s: %v", m.Name, err))
		}
	}
	return complaints, nil
}

// Untold lists the rows that a table in Markdown lacks.
func Untold(table string, all []Mutant) []string {
	var rows []string
	for _, m := range all {
		rows = append(rows, "| "+m.Name+" | `"+m.Test+"` |")
	}
	for row := range strings.Lines(table) {
		row = strings.TrimSpace(row)
		if i := slices.Index(rows, row); i >= 0 {
			rows = slices.Delete(rows, i, i+1)
		}
	}
	return rows
}
