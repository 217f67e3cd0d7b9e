package coordprom

import "github.com/prometheus/client_golang/prometheus"

const prefix = "bedrock_txn_"

// metrics are the collectors of one registry. It implements coord.Observer.
type metrics struct {
	name func(string) string

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
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: o.Buckets}, labels)
	}
	return &metrics{
		name:      o.NameLabel,
		submitted: counters("submitted_total", "Transactions accepted.", "mode", "name"),
		finished:  counters("finished_total", "Transactions that came to an end.", "mode", "outcome", "name"),
		parked:    counters("parked_total", "Times that a transaction was left to a person.", "mode", "name"),
		attempts:  counters("attempts_total", "Calls of participants.", "mode", "op", "answer"),
		duration:  histogram("duration_seconds", "From a transaction's submission to its end.", "mode", "outcome", "name"),
		attempt:   histogram("attempt_seconds", "How long calls of participants took.", "mode", "op"),
		claimed:   counter("claimed_total", "Transactions taken over, or taken up again."),
		fenced:    counter("fenced_total", "Transactions that another coordinator took away."),
		removed:   counter("removed_total", "Final transactions deleted."),
		breakers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: prefix + "breaker_open", Help: "Targets held to be down.",
		}),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.submitted, m.finished, m.parked, m.attempts, m.duration, m.attempt,
		m.claimed, m.fenced, m.removed, m.breakers,
	}
}
