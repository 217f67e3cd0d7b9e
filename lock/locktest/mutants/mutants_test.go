package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMutantsNoLongerFit is quick: it only looks for the texts to be replaced.
func TestMutantsNoLongerFit(t *testing.T) {
	l, err := newLab(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	for i, m := range mutants() {
		if _, err := l.overlay(&m, i); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func TestTableMissesAMutant(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range mutants() {
		rows = append(rows, "| "+m.name+" | `"+m.test+"` |")
	}
	for row := range strings.Lines(string(text)) {
		row = strings.TrimSpace(row)
		if i := slices.Index(rows, row); i >= 0 {
			rows = slices.Delete(rows, i, i+1)
		}
	}
	if len(rows) > 0 {
		t.Errorf("the table lacks:\n%s", strings.Join(rows, "\n"))
	}
}
