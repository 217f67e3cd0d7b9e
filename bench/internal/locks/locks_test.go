package locks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/bench/internal/locks"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

func TestWorkloadNamesAreAContract(t *testing.T) {
	want := []string{
		"uncontended-1", "uncontended-1-shared", "own-keys-64", "contended-64", "contended-4x16",
		"contended-4x1", "fair-4x16", "fair-4x16-order", "waiters-1000", "handoff", "recall", "forced", "hold-1ms-64",
		"held-100k", "rw-4x16", "semaphore-8-64", "multi-2", "election-1", "latch", "several-1", "several-1-far",
		"several-16", "round-trip", "file-4x50",
	}
	for _, quick := range []bool{true, false} {
		var got []string
		for _, w := range locks.Workloads(quick) {
			got = append(got, w.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("workloads = %v, want %v", got, want)
		}
	}
}

func TestSubjectNamesAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range subject.All() {
		if seen[s.Name] {
			t.Errorf("two subjects are called %s", s.Name)
		}
		seen[s.Name] = true
	}
}

func TestLocksOnSeveralServersAreWithTheirLikes(t *testing.T) {
	for _, w := range locks.Workloads(true) {
		for _, s := range subject.All() {
			if s.Servers > 1 && w.Fits(s) != strings.HasPrefix(w.Name, "several-") {
				t.Errorf("%s on %s: %v", w.Name, s.Name, w.Fits(s))
			}
		}
	}
}

func TestLocksOfOtherKindsAreWithTheirLikes(t *testing.T) {
	of := map[subject.Kind][]string{
		subject.Fair:      {"fair-4x16", "fair-4x16-order"},
		subject.ReadWrite: {"rw-4x16"}, subject.Permits: {"semaphore-8-64"},
		subject.TwoNames: {"multi-2"}, subject.Leadership: {"election-1"},
	}
	for _, w := range locks.Workloads(true) {
		for _, s := range subject.All() {
			if s.Kind != subject.Plain && w.Fits(s) != slices.Contains(of[s.Kind], w.Name) {
				t.Errorf("%s of %s: %v", w.Name, s.Name, w.Fits(s))
			}
		}
	}
}

func TestRedissonsMutexIsWhereManyWantOne(t *testing.T) {
	s, found := subject.Find("redisson-rlock")
	if !found {
		t.Fatal("it is not there")
	}
	for _, w := range locks.Workloads(true) {
		if want := w.Name == "contended-64" || w.Name == "contended-4x16"; w.Fits(s) != want {
			t.Errorf("%s of %s: %v", w.Name, s.Name, w.Fits(s))
		}
	}
}

func TestWhoeverCannotWaitIsNotContended(t *testing.T) {
	for _, w := range locks.Workloads(true) {
		for _, s := range subject.All() {
			if s.Role == subject.Raw && w.Fits(s) && !strings.HasPrefix(w.Name, "uncontended-1") &&
				w.Name != "own-keys-64" && w.Name != "forced" {
				t.Errorf("%s would measure %s, which does not wait", w.Name, s.Name)
			}
		}
	}
}
