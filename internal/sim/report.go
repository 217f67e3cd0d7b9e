package sim

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"
)

// Report is what a run brings home: what it found wrong, and, if it is asked for,
// what happened when.
type Report struct {
	start   time.Time
	tracing bool

	mu       sync.Mutex
	findings []Finding
	lines    []line
}

// Finding is a rule that was broken.
type Finding struct {
	Rule string // names the rule, always in the same words
	What string // says how it was broken
	At   time.Duration
}

func (f Finding) String() string { return fmt.Sprintf("%s at %s: %s", f.Rule, f.At, f.What) }

type line struct {
	at   time.Duration
	text string
}

// mostFindings are kept of one run: when one thing breaks, much else does.
const mostFindings = 20

// Now is the time since the run began.
func (r *Report) Now() time.Duration { return time.Since(r.start) }

// Break reports a rule that was broken.
func (r *Report) Break(rule, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.findings) < mostFindings {
		r.findings = append(r.findings, Finding{rule, fmt.Sprintf(format, args...), r.Now()})
	}
	r.add("BROKEN "+rule+": "+format, args)
}

// Tracing reports whether anybody reads the trace.
func (r *Report) Tracing() bool { return r.tracing }

// Trace tells what happens.
func (r *Report) Trace(format string, args ...any) {
	if !r.tracing {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(format, args)
}

func (r *Report) add(format string, args []any) {
	if r.tracing {
		r.lines = append(r.lines, line{r.Now(), fmt.Sprintf(format, args...)})
	}
}

// Findings are the rules that were broken, the first one first.
func (r *Report) Findings() []Finding { return r.findings }

// Story is the trace. What happened at the same instant is in the order of the
// alphabet, since it has no other.
func (r *Report) Story() string {
	slices.SortStableFunc(r.lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.text, b.text))
	})
	var b strings.Builder
	for _, l := range r.lines {
		fmt.Fprintf(&b, "%14s  %s\n", l.at, l.text)
	}
	return b.String()
}

// Hash is the same for runs that went the same way.
func (r *Report) Hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.Story())) // it never fails
	return h.Sum64()
}
