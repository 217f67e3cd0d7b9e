package httpclients

import (
	"bytes"
	"testing"
	"time"
)

// Ours keeps every promise, and each is broken by some client: an examination that all
// pass would tell nothing.
func TestPromises(t *testing.T) {
	all := append(Candidates(), Candidate{Name: "careless", Open: openCareless, Participants: true})
	broken := make(map[string]bool)
	for _, f := range Examine(t.Context(), all) {
		if f.Broken != nil {
			broken[f.Promise] = true
		}
		if f.Broken != nil && f.Candidate == oursName {
			t.Errorf("%s: %v", f.Promise, f.Broken)
		}
	}
	for _, p := range Promises() {
		if !broken[p.Name] {
			t.Errorf("%s: nobody breaks it", p.Name)
		}
	}
}

func TestGainsAreReckonedWithOursAndNetHTTP(t *testing.T) {
	rows := []*Row{
		{Kind: "k", AtATime: 1, Candidate: oursName, CPU: 20},
		{Kind: "k", AtATime: 1, Candidate: shippedName, CPU: 60},
		{Kind: "k", AtATime: 1, Candidate: "half", CPU: 40},
		{Kind: "k", AtATime: 1, Candidate: "worse", CPU: 80},
		{Kind: "k", AtATime: 64, Candidate: oursName, CPU: 1},
		{Kind: "k", AtATime: 64, Candidate: shippedName, CPU: 2},
	}
	reckonGains(rows)
	for i, want := range []float64{1, 0, 0.5, -0.5, 1, 0} {
		if got := rows[i].Gain; got != want {
			t.Errorf("%s at %d: %v, want %v", rows[i].Candidate, rows[i].AtATime, got, want)
		}
	}
}

func TestAllIsMeasured(t *testing.T) {
	s := Suite{Rounds: 1, Length: 20 * time.Millisecond}
	rows, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.CPU <= 0 || r.Rate <= 0 || r.P99 < r.P50 || r.Allocations <= 0 {
			t.Errorf("%+v", r)
		}
	}
	var text bytes.Buffer
	if err := WriteRows(&text, rows); err != nil || text.Len() == 0 {
		t.Error(text.String(), err)
	}
}
