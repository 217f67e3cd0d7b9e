package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes rows and verdicts as sections of a document.
func Markdown(w io.Writer, rows []*Row, verdicts []Verdict) error {
	var text strings.Builder
	workload := ""
	for _, r := range rows {
		if r.Workload != workload {
			workload = r.Workload
			fmt.Fprintf(&text, "\n### %s\n\n", workload)
			line(&text, "subject", r.Unit, "p50 µs", "p99 µs", "× best peer", "× raw", "× local", "")
			line(&text, strings.Split(strings.Repeat("---,", 7)+"---", ",")...)
		}
		line(&text, r.Subject, number(&r.Value), number(r.P50), number(r.P99), number(r.RatioToBestPeer),
			number(r.RatioToRaw), number(r.RatioToLocal), strings.Join(r.notes(), ", "))
	}
	writeTargets(&text, verdicts)
	_, err := io.WriteString(w, text.String())
	return err
}

// writeTargets writes the section of verdicts.
func writeTargets(w io.Writer, verdicts []Verdict) {
	fmt.Fprint(w, "\n### Targets\n\n")
	line(w, "target", "subject", "wanted", "measured", "")
	line(w, "---", "---", "---", "---", "---")
	for _, v := range verdicts {
		word := "**missed**"
		if v.Reached() {
			word = "reached"
		}
		line(w, v.Target, v.Subject, v.relation()+" "+number(&v.Limit), number(&v.Measured), word)
	}
}

// line writes a line of a table.
func line(w io.Writer, cells ...string) {
	fmt.Fprintln(w, "| "+strings.Join(cells, " | ")+" |")
}
