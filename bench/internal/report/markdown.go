package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// Markdown writes rows and verdicts as sections of a document. Those of Redis have a table for each workload, those of
// other stores one for each store.
func Markdown(w io.Writer, rows []*Row, verdicts []Verdict) error {
	var text strings.Builder
	section := ""
	for _, r := range rows {
		if r.section() != section {
			section = r.section()
			r.writeHead(&text)
		}
		cells := []string{
			r.Subject, Number(&r.Value), Number(r.P50), Number(r.P99), Number(r.RatioToBestPeer), Number(r.RatioToRaw),
		}
		if r.store == subject.Redis {
			cells = append(cells, Number(r.RatioToLocal))
		} else {
			cells = slices.Insert(cells, 0, r.Workload)
			cells[2] += " " + r.Unit
		}
		writeLine(&text, append(cells, strings.Join(r.notes(), ", "))...)
	}
	MarkdownVerdicts(&text, verdicts)
	_, err := io.WriteString(w, text.String())
	return err
}

// section names the table that a row is in.
func (r *Row) section() string {
	if r.store == subject.Redis {
		return r.Workload
	}
	return "Locks on " + r.Store
}

// writeHead begins that table.
func (r *Row) writeHead(w io.Writer) {
	cells := []string{"subject", r.Unit, "p50 µs", "p99 µs", "× best peer", "× raw", "× local", ""}
	if r.store != subject.Redis {
		cells = []string{"workload", "subject", "value", "p50 µs", "p99 µs", "× best peer", "× raw", ""}
	}
	fmt.Fprintf(w, "\n### %s\n\n", r.section())
	writeLine(w, cells...)
	writeLine(w, slices.Repeat([]string{"---"}, len(cells))...)
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
