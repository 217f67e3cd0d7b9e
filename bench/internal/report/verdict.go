package report

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Verdict reports whether a subject reached a target.
type Verdict struct {
	Target   string
	Subject  string
	Measured float64
	Limit    float64
	AtMost   bool
	// Lacks says what it would have taken to measure it; empty when it was.
	Lacks string
}

// Reached reports whether the target was reached.
func (v Verdict) Reached() bool {
	if v.AtMost {
		return v.Measured <= v.Limit
	}
	return v.Measured >= v.Limit
}

// relation returns how the measured number should relate to the limit.
func (v Verdict) relation() string {
	if v.AtMost {
		return "<="
	}
	return ">="
}

// word is the verdict in a word.
func (v Verdict) word() string {
	switch {
	case v.Lacks != "":
		return "not measured: " + v.Lacks
	case v.Reached():
		return "reached"
	default:
		return "missed"
	}
}

// measured is the number that was found, if any.
func (v Verdict) measured() string {
	if v.Lacks != "" {
		return ""
	}
	return Number(&v.Measured)
}

// Verdicts holds Bedrock's rows against its targets. What was not measured has
// no verdict.
func Verdicts(rows []*Row) []Verdict {
	var list []Verdict
	for _, t := range targets() {
		for _, r := range rows {
			if !t.concerns(r) {
				continue
			}
			if measured := t.measure(r, rows); measured != nil {
				list = append(list, Verdict{
					Target: t.text, Subject: r.Subject, Measured: *measured, Limit: t.limit, AtMost: t.atMost,
				})
			}
		}
	}
	return list
}

// WriteVerdicts writes verdicts for people.
func WriteVerdicts(w io.Writer, verdicts []Verdict) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\nTARGET\tSUBJECT\tWANTED\tMEASURED\tVERDICT")
	for _, v := range verdicts {
		fmt.Fprintf(tab, "%s\t%s\t%s %s\t%s\t%s\n",
			v.Target, v.Subject, v.relation(), Number(&v.Limit), v.measured(), v.word())
	}
	return tab.Flush()
}
