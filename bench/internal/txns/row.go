package txns

import (
	"encoding/json"
	"io"
)

// Row is what a run found for one workload and subject. Its JSON form is a
// public contract: fields are added, never renamed. Fields that mean nothing
// for a workload are left out.
type Row struct {
	Workload string  `json:"workload"`
	Subject  string  `json:"subject"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`

	P50 *float64 `json:"p50_us,omitempty"`
	P99 *float64 `json:"p99_us,omitempty"`
	// CPU and StoreCPU are processor seconds for 1,000 transactions.
	CPU      *float64 `json:"cpu_s_per_1000,omitempty"`
	StoreCPU *float64 `json:"store_cpu_s_per_1000,omitempty"`

	// RatioToMinimal is the value divided by the minimal coordinator's, RatioToDTM
	// by that of DTM on the store that Bedrock's is compared with.
	RatioToMinimal *float64 `json:"ratio_to_minimal,omitempty"`
	RatioToDTM     *float64 `json:"ratio_to_dtm,omitempty"`

	FirstCall    *float64 `json:"first_call_s,omitempty"`
	Transactions *float64 `json:"transactions,omitempty"`
	Calls        *float64 `json:"calls_per_transaction,omitempty"`
	Normal       *float64 `json:"normal_per_s,omitempty"`
	Healthy      *float64 `json:"healthy_per_s,omitempty"`

	// Others is how much of the machine had nothing to do with it, in percent.
	Others *float64 `json:"others_percent,omitempty"`
	// Rounds is how many measurements the medians are taken over.
	Rounds int `json:"rounds"`

	subject Subject
}

// Rows returns one row for each outcome with at least one sample.
func Rows(outcomes []*Outcome) []*Row {
	var rows []*Row
	for _, o := range outcomes {
		if len(o.Samples) > 0 {
			rows = append(rows, newRow(o))
		}
	}
	for _, r := range rows {
		r.compare(rows)
	}
	return rows
}

// newRow returns the medians of o.
func newRow(o *Outcome) *Row {
	m := o.Median()
	get := func(metric Metric) *float64 {
		if v, found := m[metric]; found {
			return &v
		}
		return nil
	}
	return &Row{
		Workload: o.Workload.Name, Subject: o.Subject.Name,
		Value: m[Value], Unit: o.Workload.Unit, P50: get(P50), P99: get(P99),
		CPU: get(CPU), StoreCPU: get(StoreCPU),
		FirstCall: get(FirstCall), Transactions: get(Transactions), Calls: get(Calls),
		Normal: get(Normal), Healthy: get(Healthy), Others: get(Others),
		Rounds: len(o.Samples), subject: o.Subject,
	}
}

// compare fills in the ratios of Bedrock's rows to their peers.
func (r *Row) compare(rows []*Row) {
	if r.subject.Role != Bedrock {
		return
	}
	r.RatioToMinimal = ratio(&r.Value, value(find(rows, r.Workload, minimal().Name)))
	r.RatioToDTM = ratio(&r.Value, value(find(rows, r.Workload, dtmOf(r.subject.Store))))
}

// dtmOf names the DTM server that Bedrock on a store is compared with.
func dtmOf(store string) string {
	switch store {
	case "redis":
		return "dtm-redis"
	case "mariadb", "postgres": // it has no faster one on PostgreSQL
		return "dtm-mariadb"
	default: // what each of the two has when nothing is said
		return "dtm-boltdb"
	}
}

// find returns the row of a workload and subject, nil if there is none.
func find(rows []*Row, workload, subject string) *Row {
	for _, r := range rows {
		if r.Workload == workload && r.Subject == subject {
			return r
		}
	}
	return nil
}

// value is a row's value, nil without a row.
func value(r *Row) *float64 {
	if r == nil {
		return nil
	}
	return &r.Value
}

// ratio returns a/b, nil when one of them is missing or b is 0.
func ratio(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	return new(*a / *b)
}

// JSON writes rows as an array of objects.
func JSON(w io.Writer, rows []*Row) error {
	if rows == nil {
		rows = []*Row{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}
