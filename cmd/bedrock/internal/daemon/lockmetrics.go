package daemon

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/server"
)

// lockMetrics counts what becomes of the locks that the server gives out, under the
// names that lockprom has for the same things. What needs the memory of a grant, such as
// how many there are and how long they are held, a server does not know: the store does.
type lockMetrics struct {
	wait                            prometheus.Histogram
	acquired, renewed, lost, forced prometheus.Counter
	left                            *prometheus.CounterVec
	queued                          prometheus.Gauge
}

func newLockMetrics(r prometheus.Registerer) (*lockMetrics, error) {
	m := &lockMetrics{
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "bedrock_lock_wait_seconds", Help: "From a request for a lock to its grant.",
			Buckets: prometheus.ExponentialBuckets(100e-6, 2, 21),
		}),
		acquired: lockCounter("acquired", "Locks taken."),
		renewed:  lockCounter("renewed", "Leases renewed."),
		lost:     lockCounter("lost", "Leases that ended against their holders' will, as these were told."),
		forced:   lockCounter("forced", "Locks taken away from their holders by a person."),
		left: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bedrock_lock_left_total", Help: "Requests and leases ended, by reason.",
		}, []string{"reason"}),
		queued: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bedrock_lock_queued", Help: "Requests for a lock that are under way.",
		}),
	}
	for _, reason := range lock.Reasons() {
		m.left.WithLabelValues(reason)
	}
	for _, c := range []prometheus.Collector{m.wait, m.acquired, m.renewed, m.lost, m.forced, m.left, m.queued} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func lockCounter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: "bedrock_lock_" + name + "_total", Help: help})
}

// Observe implements [server.LockObserver].
func (m *lockMetrics) Observe(_ context.Context, e server.LockEvent) {
	switch e.Kind {
	case server.LockEventAsked:
		m.queued.Inc()
	case server.LockEventGranted:
		if !e.Passed {
			m.queued.Dec()
		}
		m.acquired.Inc()
		m.wait.Observe(e.Wait.Seconds())
	case server.LockEventRefused:
		m.queued.Dec()
		m.countEnd(e.Err)
	case server.LockEventRenewed:
		m.renewed.Inc()
	case server.LockEventReleased:
		m.countEnd(nil)
	case server.LockEventLost:
		m.lost.Inc()
		m.countEnd(lock.ErrLost)
	case server.LockEventForced:
		m.forced.Inc()
	}
}

func (m *lockMetrics) countEnd(err error) {
	m.left.WithLabelValues(lock.Event{Err: err}.Reason()).Inc()
}
