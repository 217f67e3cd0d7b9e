// Package audit is what came out of a run, for people and for programs.
package audit

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Verdict is what a run proves.
type Verdict string

// The verdicts. An inconclusive run has found nothing, and proves nothing either.
const (
	Clean        Verdict = "clean"
	Violated     Verdict = "violated"
	Inconclusive Verdict = "inconclusive"
)

// Report is what came out of one run.
type Report struct {
	Name    string        `json:"name"`
	Seed    uint64        `json:"seed"`
	Verdict Verdict       `json:"verdict"`
	For     time.Duration `json:"for_ns"`
	// Operations counts what was done, by kind.
	Operations map[string]int `json:"operations"`
	// Faults counts what was done to the run, by kind, and Evidence is how one of each
	// kind is known to have happened.
	Faults   map[string]int    `json:"faults"`
	Evidence map[string]string `json:"evidence"`
	// Violations are promises that were broken without an excuse.
	Violations []Violation `json:"violations"`
	// Explained counts what is no violation only because a fault excuses it, by kind.
	Explained map[string]int `json:"explained"`
	// Longest are the longest waits, by kind.
	Longest map[string]time.Duration `json:"longest_ns"`
	// Notes say what else there is to know.
	Notes []string `json:"notes,omitempty"`
	// Doubts say why the run proves nothing.
	Doubts []string `json:"doubts,omitempty"`
	// Dir holds the history, if it was kept.
	Dir string `json:"dir,omitempty"`
}

// Violation is one promise broken.
type Violation struct {
	Oracle string        `json:"oracle"`
	At     time.Duration `json:"at_ns"` // since the beginning of the run
	What   string        `json:"what"`
}

// New returns an empty report.
func New(name string, seed uint64) *Report {
	return &Report{
		Name: name, Seed: seed, Operations: map[string]int{}, Faults: map[string]int{}, Evidence: map[string]string{},
		Explained: map[string]int{}, Longest: map[string]time.Duration{}, Violations: []Violation{},
	}
}

// Violate enters a violation.
func (r *Report) Violate(oracle string, at time.Duration, what string, args ...any) {
	r.Violations = append(r.Violations, Violation{oracle, at, fmt.Sprintf(what, args...)})
}

// Doubt enters a reason why the run proves nothing.
func (r *Report) Doubt(why string, args ...any) {
	r.Doubts = append(r.Doubts, fmt.Sprintf(why, args...))
}

// Took enters how long something took, of which the longest is kept.
func (r *Report) Took(kind string, d time.Duration) { r.Longest[kind] = max(r.Longest[kind], d) }

// Conclude sets the verdict and brings the report into its final order.
func (r *Report) Conclude() {
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return cmp.Compare(a.At, b.At) })
	switch {
	case len(r.Violations) > 0:
		r.Verdict = Violated
	case len(r.Doubts) > 0:
		r.Verdict = Inconclusive
	default:
		r.Verdict = Clean
	}
}

// some is how many violations of each kind people are shown.
const some = 5

// Print writes the report for people.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (seed %d, %s)\n",
		r.Name, strings.ToUpper(string(r.Verdict)), r.Seed, r.For.Round(time.Second))
	section(&b, "operations", r.Operations)
	section(&b, "faults", r.Faults)
	section(&b, "explained by faults", r.Explained)
	section(&b, "longest", r.Longest)
	r.printViolations(&b)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "  note: %s\n", note)
	}
	for _, doubt := range r.Doubts {
		fmt.Fprintf(&b, "  inconclusive: %s\n", doubt)
	}
	if r.Dir != "" {
		fmt.Fprintf(&b, "  history: %s\n", r.Dir)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// section writes counts or times in one line.
func section[V any](b *strings.Builder, title string, values map[string]V) {
	if len(values) == 0 {
		return
	}
	var items []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		items = append(items, fmt.Sprintf("%s %v", key, shown(values[key])))
	}
	fmt.Fprintf(b, "  %s: %s\n", title, strings.Join(items, ", "))
}

// shown rounds times to what people read.
func shown(v any) any {
	if d, ok := v.(time.Duration); ok {
		return d.Round(time.Millisecond)
	}
	return v
}

// printViolations shows the first few of each kind.
func (r *Report) printViolations(b *strings.Builder) {
	count := map[string]int{}
	for _, v := range r.Violations {
		if count[v.Oracle]++; count[v.Oracle] <= some {
			fmt.Fprintf(b, "  VIOLATION %s at %.3fs: %s\n", v.Oracle, v.At.Seconds(), v.What)
		}
	}
	for _, oracle := range slices.Sorted(maps.Keys(count)) {
		if count[oracle] > some {
			fmt.Fprintf(b, "  VIOLATION %s: %d in all\n", oracle, count[oracle])
		}
	}
}
