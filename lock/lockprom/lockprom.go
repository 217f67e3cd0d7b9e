package lockprom

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bedrock-go/bedrock/lock"
)

// Options configure [New]. The zero value and nil mean the defaults.
type Options struct {
	// NameLabel returns the value of the label "name" for a lock, such as the
	// part before the first slash. It must return few different values. Defaults
	// to no such label.
	NameLabel func(name string) string
	// Buckets are those of the wait and hold histograms, in seconds. Defaults to
	// 100 µs to about 100 s, each twice the one before.
	Buckets []float64
}

// New returns an observer that counts in metrics registered with r. Give one
// observer to all clients of a registry: to register twice is an error.
func New(r prometheus.Registerer, opts *Options) (lock.Observer, error) {
	if r == nil {
		return nil, &lock.InvalidError{Field: "registerer", Problem: "is nil"}
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Buckets == nil {
		o.Buckets = prometheus.ExponentialBuckets(100e-6, 2, 21)
	}
	m := newMetrics(o)
	if err := m.register(r); err != nil {
		return nil, fmt.Errorf("lockprom: %w", err)
	}
	return m, nil
}

// Observe implements [lock.Observer].
func (m *metrics) Observe(_ context.Context, e lock.Event) {
	labels := m.labels(e.Name)
	switch e.Kind {
	case lock.EventQueued:
		m.meet(labels)
		m.queued.WithLabelValues(labels...).Inc()
	case lock.EventAcquired:
		m.queued.WithLabelValues(labels...).Dec()
		m.leases.WithLabelValues(labels...).Inc()
		m.acquired.WithLabelValues(labels...).Inc()
		m.wait.WithLabelValues(labels...).Observe(e.Wait.Seconds())
	case lock.EventLeft:
		m.observeLeft(e, labels)
	case lock.EventRenewed:
		m.renewed.WithLabelValues(labels...).Inc()
		m.slack.WithLabelValues(labels...).Observe(e.Slack.Seconds())
	case lock.EventAsked:
		m.asked.WithLabelValues(labels...).Inc()
	case lock.EventOverdue:
		m.overdue.WithLabelValues(labels...).Inc()
	case lock.EventLost:
		m.lost.WithLabelValues(labels...).Inc()
	case lock.EventRefused:
		m.meet(labels)
		m.refused.WithLabelValues(labels...).Inc()
	case lock.EventContending: // between two moments that are counted
	}
}

// observeLeft counts the end of a wait or of a lease: only a lease has an owner.
func (m *metrics) observeLeft(e lock.Event, labels []string) {
	if e.Owner == "" {
		m.queued.WithLabelValues(labels...).Dec()
	} else {
		m.leases.WithLabelValues(labels...).Dec()
		m.hold.WithLabelValues(labels...).Observe(e.Held.Seconds())
	}
	m.left.WithLabelValues(append(labels, e.Reason())...).Inc()
}
