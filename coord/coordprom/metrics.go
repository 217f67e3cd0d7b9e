package coordprom

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
)

const prefix = "bedrock_txn_"

// metrics are the collectors of one registry. It implements coord.Observer.
type metrics struct {
	nameLabel func(string) string
	begun     sync.Map // the pairs of mode and label "name" whose counters are there

	submitted, finished, parked, attempts *prometheus.CounterVec
	duration, attempt                     *prometheus.HistogramVec
	claimed, fenced, removed              prometheus.Counter
	breakers                              prometheus.Gauge
}

func newMetrics(o Options) *metrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help})
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: o.Buckets},
			labels)
	}
	named := func(labels ...string) []string { return labels }
	if o.NameLabel != nil {
		named = func(labels ...string) []string { return append(labels, "name") }
	}
	m := &metrics{
		nameLabel: o.NameLabel,
		submitted: counters("submitted_total", "Transactions accepted.", named("mode")...),
		finished:  counters("finished_total", "Transactions that came to an end.", named("mode", "outcome")...),
		parked:    counters("parked_total", "Times that a transaction was left to a person.", named("mode")...),
		attempts:  counters("attempts_total", "Calls of participants.", "mode", "op", "answer"),
		duration: histogram("duration_seconds", "From a transaction's submission to its end.",
			named("mode", "outcome")...),
		attempt: histogram("attempt_seconds", "How long calls of participants took.", "mode", "op"),
		claimed: counter("claimed_total", "Transactions taken over, or taken up again."),
		fenced:  counter("fenced_total", "Transactions that another coordinator took away."),
		removed: counter("removed_total", "Final transactions deleted."),
		breakers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: prefix + "breaker_open", Help: "Targets held to be down.",
		}),
	}
	m.beginAll()
	return m
}

// beginAll makes counters start at zero: the first failure is no increase of a series
// that was not there before it. Those with names wait for their names.
func (m *metrics) beginAll() {
	for mode, ops := range coord.Operations() {
		for _, op := range ops {
			for _, answer := range txn.AnswerKinds() {
				m.attempts.WithLabelValues(mode, op, string(answer))
			}
		}
		if m.nameLabel == nil {
			m.startAtZero(mode, nil)
		}
	}
}

// startAtZero makes the counters of a mode, and of a name where there is that label.
func (m *metrics) startAtZero(mode string, name []string) {
	labels := func(own ...string) []string { return slices.Concat(own, name) }
	m.submitted.WithLabelValues(labels(mode)...)
	m.parked.WithLabelValues(labels(mode)...)
	for _, outcome := range []txn.Outcome{txn.Committed, txn.RolledBack, txn.InDoubt} {
		m.finished.WithLabelValues(labels(mode, string(outcome))...)
	}
}

// labels appends the name to the values of a transaction's other labels, if it is one.
func (m *metrics) labels(e *coord.Event, own ...string) []string {
	if m.nameLabel == nil {
		return own
	}
	name := m.nameLabel(e.Name)
	if _, met := m.begun.LoadOrStore([2]string{e.Mode, name}, true); !met {
		m.startAtZero(e.Mode, []string{name})
	}
	return append(own, name)
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.submitted, m.finished, m.parked, m.attempts, m.duration, m.attempt,
		m.claimed, m.fenced, m.removed, m.breakers,
	}
}
