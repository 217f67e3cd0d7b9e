package httpclients

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteRows writes figures, a block for each kind of call and number of them.
func WriteRows(w io.Writer, rows []*Row) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	block := ""
	for _, r := range rows {
		if title := fmt.Sprintf("%s, %d at a time", r.Kind, r.AtATime); title != block {
			block = title
			fmt.Fprintf(tab, "\n%s\tCPU µs/call\tgain, %% of ours\tallocs\tp50 µs\tp99 µs\tcalls/s\t\n", block)
		}
		fmt.Fprintf(tab, "%s\t%.2f\t%.0f\t%.1f\t%.0f\t%.0f\t%.0f\t\n",
			r.Candidate, micro(r.CPU), 100*r.Gain, r.Allocations, micro(r.P50), micro(r.P99), r.Rate)
	}
	return tab.Flush()
}

func micro(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// WriteFindings writes which promises are kept, a line for each, and under it how those
// that break it do so.
func WriteFindings(w io.Writer, findings []Finding) error {
	var b strings.Builder
	promise := ""
	for _, f := range findings {
		if f.Promise != promise {
			promise = f.Promise
			fmt.Fprintf(&b, "\n%s\n", promise)
		}
		if f.Broken != nil {
			fmt.Fprintf(&b, "  NO   %s: %v\n", f.Candidate, f.Broken)
		} else {
			fmt.Fprintf(&b, "  yes  %s\n", f.Candidate)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
