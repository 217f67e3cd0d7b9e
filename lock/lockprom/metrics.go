package lockprom

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bedrock-go/bedrock/lock"
)

// metrics are the collectors of one registry.
type metrics struct {
	nameLabel func(string) string
	begun     sync.Map // the values of the label "name" whose counters are there

	wait, hold, slack                                      *prometheus.HistogramVec
	acquired, asked, left, lost, overdue, renewed, refused *prometheus.CounterVec
	queued, leases                                         *prometheus.GaugeVec
}

func newMetrics(o Options) *metrics {
	var names []string
	if o.NameLabel != nil {
		names = []string{"name"}
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bedrock_lock_" + name + "_seconds", Help: help, Buckets: o.Buckets,
		}, names)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bedrock_lock_" + name + "_total", Help: help},
			labels)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "bedrock_lock_" + name, Help: help}, names)
	}
	m := &metrics{
		nameLabel: o.NameLabel,
		wait:      histogram("wait", "From queueing for a lock to having it."),
		hold:      histogram("hold", "From having a lock to giving it up."),
		slack:     histogram("renewal_slack", "What was left of a lease's life at its renewal."),
		acquired:  counter("acquired", "Locks taken.", names...),
		left:      counter("left", "Waits and leases ended, by reason.", append(names, "reason")...),
		lost:      counter("lost", "Leases that ended against their holder's will.", names...),
		asked:     counter("asked", "Leases that somebody has asked for.", names...),
		overdue:   counter("overdue", "Leases held for nearly as long as they may be.", names...),
		renewed:   counter("renewed", "Leases renewed.", names...),
		refused:   counter("refused", "Tokens that a resource refused: somebody went on after a loss.", names...),
		queued:    gauge("queued", "Goroutines that wait for a lock."),
		leases:    gauge("leases", "Goroutines that have a lock."),
	}
	if m.nameLabel == nil {
		m.startAtZero(nil)
	}
	return m
}

// startAtZero makes counters start at zero: the first loss is no increase of a series that
// was not there before it.
func (m *metrics) startAtZero(labels []string) {
	for _, c := range []*prometheus.CounterVec{
		m.acquired, m.asked, m.lost, m.overdue, m.renewed, m.refused,
	} {
		c.WithLabelValues(labels...)
	}
	for _, g := range []*prometheus.GaugeVec{m.queued, m.leases} {
		g.WithLabelValues(labels...)
	}
	for _, reason := range lock.Reasons() {
		m.left.WithLabelValues(append(labels, reason)...)
	}
}

// meet begins the counters of a name that is heard of for the first time.
func (m *metrics) meet(labels []string) {
	if len(labels) == 0 {
		return
	}
	if _, met := m.begun.LoadOrStore(labels[0], true); !met {
		m.startAtZero(labels)
	}
}

// register registers all collectors or none.
func (m *metrics) register(r prometheus.Registerer) error {
	collectors := []prometheus.Collector{
		m.wait, m.hold, m.slack, m.acquired, m.asked, m.left, m.lost, m.overdue, m.renewed, m.refused, m.queued,
		m.leases,
	}
	for i, c := range collectors {
		if err := r.Register(c); err != nil {
			for _, done := range collectors[:i] {
				r.Unregister(done)
			}
			return err
		}
	}
	return nil
}

// labels returns the label values of a lock.
func (m *metrics) labels(name string) []string {
	if m.nameLabel == nil {
		return nil
	}
	return []string{m.nameLabel(name)}
}
