package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// Table writes rows for people, one block for each workload.
func Table(w io.Writer, rows []*Row) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	workload := ""
	for _, r := range rows {
		if r.heading() != workload {
			workload = r.heading()
			fmt.Fprintf(tab, "\n%s\t%s\tp50 µs\tp99 µs\tx best peer\tx raw\tx local\t\n", workload, r.Unit)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t  %s\n", r.Subject, Number(&r.Value),
			Number(r.P50), Number(r.P99), Number(r.RatioToBestPeer), Number(r.RatioToRaw),
			Number(r.RatioToLocal), strings.Join(r.notes(), ", "))
	}
	return tab.Flush()
}

// heading names the workload, and the store if it is not the usual one.
func (r *Row) heading() string {
	if r.store == subject.Redis {
		return r.Workload
	}
	return r.Workload + " on " + r.Store
}

// notes returns the metrics that have no column of their own.
func (r *Row) notes() []string {
	var list []string
	for _, n := range []struct {
		label string
		value *float64
	}{
		{"x redisson", r.RatioToRedisson},
		{"x plain mutexes", r.RatioToPlain},
		{"longest µs", r.Max},
		{"jain", r.Jain},
		{"jain of processes", r.JainProcesses},
		{"greatest share x least", r.ShareSpread},
		{"server µs", r.ServerTime},
		{"allocs", r.Allocs},
		{"commands/s", r.Commands},
		{"round trips", r.RoundTrips},
		{"leases", r.Leases},
		{"lost", r.Lost},
		{"goroutines added", r.Growth},
		{"exclusion violated", positive(r.Violations)},
	} {
		if n.value != nil {
			list = append(list, n.label+" "+Number(n.value))
		}
	}
	return list
}

// Number formats v with three significant digits, and whole numbers in full.
func Number(v *float64) string {
	switch {
	case v == nil:
		return ""
	case math.Abs(*v) >= 100 || *v == math.Trunc(*v):
		return strconv.FormatFloat(*v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(*v, 'g', 3, 64)
	}
}

// positive returns v unless it is 0 or nil.
func positive(v *float64) *float64 {
	if v == nil || *v == 0 {
		return nil
	}
	return v
}
