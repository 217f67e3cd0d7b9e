package txns

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/bedrock-go/bedrock/bench/internal/report"
)

// Table writes rows for people, one block for each workload.
func Table(w io.Writer, rows []*Row) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	workload := ""
	for _, r := range rows {
		if r.Workload != workload {
			workload = r.Workload
			fmt.Fprintf(tab, "\n%s\t%s\tp50 µs\tp99 µs\tcpu s/1000\tx minimal\tx dtm\t\n", workload, r.Unit)
		}
		fmt.Fprintf(tab, "%s\t%s\t  %s\n", r.Subject, strings.Join(r.cells(), "\t"), strings.Join(r.notes(), ", "))
	}
	return tab.Flush()
}

// Markdown writes rows and verdicts as sections of a document.
func Markdown(w io.Writer, rows []*Row, verdicts []report.Verdict) error {
	var text strings.Builder
	workload := ""
	for _, r := range rows {
		if r.Workload != workload {
			workload = r.Workload
			fmt.Fprintf(&text, "\n### %s\n\n| subject | %s | p50 µs | p99 µs | cpu s/1,000 | × minimal | × DTM | |\n",
				workload, r.Unit)
			text.WriteString(strings.Repeat("| --- ", 8) + "|\n")
		}
		fmt.Fprintf(&text, "| %s | %s | %s |\n",
			r.Subject, strings.Join(r.cells(), " | "), strings.Join(r.notes(), ", "))
	}
	report.MarkdownVerdicts(&text, verdicts)
	_, err := io.WriteString(w, text.String())
	return err
}

// cells are the numbers that have a column of their own.
func (r *Row) cells() []string {
	var list []string
	for _, v := range []*float64{&r.Value, r.P50, r.P99, r.CPU, r.RatioToMinimal, r.RatioToDTM} {
		list = append(list, report.Number(v))
	}
	return list
}

// notes are the metrics that have none.
func (r *Row) notes() []string {
	var list []string
	for _, n := range []struct {
		label string
		value *float64
	}{
		{"store cpu s/1000", r.StoreCPU},
		{"first call s", r.FirstCall},
		{"transactions", r.Transactions},
		{"calls each", r.Calls},
		{"normal", r.Normal},
		{"healthy", r.Healthy},
		{"machine busy elsewhere %", r.busyElsewhere()},
	} {
		if n.value != nil {
			list = append(list, n.label+" "+report.Number(n.value))
		}
	}
	return list
}

// busyElsewhere is how much of the machine others used, nil where it is too little
// to matter.
func (r *Row) busyElsewhere() *float64 {
	const little = 5
	if r.Others == nil || *r.Others < little {
		return nil
	}
	return new(math.Round(*r.Others))
}
