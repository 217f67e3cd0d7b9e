package coordprom

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Options configure [New]. The zero value and nil mean the defaults.
type Options struct {
	// Store is asked how many transactions there are, each time metrics are
	// collected. Defaults to no such metrics.
	Store driver.Counter
	// Trouble says why the store fails although it can be counted: [coord.Coordinator.Trouble],
	// of a coordinator that is made before metrics are collected. Defaults to never.
	Trouble func() error
	// NameLabel returns the value of the label "name" for a transaction's name. It
	// must return few different values. Defaults to no such label.
	NameLabel func(name string) string
	// Buckets are those of the histograms, in seconds. Defaults to 1 ms to about 1,000
	// s, each twice the one before.
	Buckets []float64
}

// New returns an observer that counts in metrics registered with r. Give one
// observer to all coordinators of a registry: to register twice is an error.
func New(r prometheus.Registerer, opts *Options) (coord.Observer, error) {
	if r == nil {
		return nil, errors.New("coordprom: the registerer is nil")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Buckets == nil {
		o.Buckets = prometheus.ExponentialBuckets(1e-3, 2, 21)
	}
	m := newMetrics(o)
	collectors := m.collectors()
	if o.Trouble == nil {
		o.Trouble = func() error { return nil }
	}
	if o.Store != nil {
		collectors = append(collectors, newBacklog(o.Store, o.Trouble))
	}
	if err := register(r, collectors); err != nil {
		return nil, fmt.Errorf("coordprom: %w", err)
	}
	return m, nil
}

// register registers all collectors or none.
func register(r prometheus.Registerer, collectors []prometheus.Collector) error {
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

// Observe implements coord.Observer.
func (m *metrics) Observe(_ context.Context, e coord.Event) {
	switch e.Kind {
	case coord.EventSubmitted:
		m.submitted.WithLabelValues(m.labels(&e, e.Mode)...).Inc()
	case coord.EventFinished:
		labels := m.labels(&e, e.Mode, string(e.Status))
		m.finished.WithLabelValues(labels...).Inc()
		m.duration.WithLabelValues(labels...).Observe(e.Took.Seconds())
	case coord.EventParked:
		m.parked.WithLabelValues(m.labels(&e, e.Mode)...).Inc()
	case coord.EventCalled:
		m.attempts.WithLabelValues(e.Mode, e.Op, string(e.Answer)).Inc()
		m.attempt.WithLabelValues(e.Mode, e.Op).Observe(e.Took.Seconds())
	case coord.EventClaimed:
		m.claimed.Add(float64(e.Count))
	case coord.EventFenced:
		m.fenced.Inc()
	case coord.EventRemoved:
		m.removed.Add(float64(e.Count))
	case coord.EventBreakerOpened:
		m.breakers.Inc()
	case coord.EventBreakerClosed:
		m.breakers.Dec()
	case coord.EventDecided: // between two moments that are counted
	}
}
