package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestVocabularyHasTheInterventions: the words for what a person may do are those that there
// are, and no others.
func TestVocabularyHasTheInterventions(t *testing.T) {
	text, err := os.ReadFile("../../docs/vocabulary.md")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, intervention := range interventions() {
		there = append(there, string(intervention.action))
	}
	slices.Sort(there)
	for line := range strings.Lines(string(text)) {
		words, means, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(means, "what a person may do about a transaction") {
			continue
		}
		if told := slices.Sorted(strings.SplitSeq(words, ", ")); !slices.Equal(told, there) {
			t.Errorf("told are %q, there are %q", told, there)
		}
		return
	}
	t.Error("no line of interventions")
}
