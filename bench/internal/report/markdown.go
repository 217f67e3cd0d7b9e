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
			writeLine(&text, "subject", r.Unit, "p50 µs", "p99 µs", "× best peer", "× raw", "× local", "")
			writeLine(&text, strings.Split(strings.Repeat("---,", 7)+"---", ",")...)
		}
		writeLine(&text, r.Subject, Number(&r.Value), Number(r.P50), Number(r.P99), Number(r.RatioToBestPeer),
			Number(r.RatioToRaw), Number(r.RatioToLocal), strings.Join(r.notes(), ", "))
	}
	MarkdownVerdicts(&text, verdicts)
	_, err := io.WriteString(w, text.String())
	return err
}

// MarkdownVerdicts writes the section of verdicts.
func MarkdownVerdicts(text *strings.Builder, verdicts []Verdict) {
	fmt.Fprint(text, "\n### Targets\n\n")
	writeLine(text, "target", "subject", "wanted", "measured", "")
	writeLine(text, "---", "---", "---", "---", "---")
	for _, v := range verdicts {
		word := v.word()
		if word == "missed" {
			word = "**missed**"
		}
		writeLine(text, v.Target, v.Subject, v.relation()+" "+Number(&v.Limit), v.measured(), word)
	}
}

// writeLine writes a line of a table.
func writeLine(w io.Writer, cells ...string) {
	fmt.Fprintln(w, "| "+strings.Join(cells, " | ")+" |")
}
