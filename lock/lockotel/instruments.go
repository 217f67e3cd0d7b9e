package lockotel

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/bedrock-go/bedrock/lock"
)

// instruments are the metrics.
type instruments struct {
	wait, hold, slack                                      metric.Float64Histogram
	acquired, asked, left, lost, overdue, renewed, refused metric.Int64Counter
}

func newInstruments(m metric.Meter) (i instruments, err error) {
	var errs []error
	seconds := func(name, help string) metric.Float64Histogram {
		h, err := m.Float64Histogram("bedrock.lock."+name, metric.WithUnit("s"), metric.WithDescription(help),
			metric.WithExplicitBucketBoundaries(buckets()...))
		errs = append(errs, err)
		return h
	}
	count := func(name, unit, help string) metric.Int64Counter {
		c, err := m.Int64Counter("bedrock.lock."+name, metric.WithUnit(unit), metric.WithDescription(help))
		errs = append(errs, err)
		return c
	}
	i.wait = seconds("wait", "From queueing for a lock to having it.")
	i.hold = seconds("hold", "From having a lock to giving it up.")
	i.slack = seconds("renewal.slack", "What was left of a lease's life at its renewal.")
	i.acquired = count("acquired", "{lease}", "Locks taken.")
	i.left = count("left", "{competitor}", "Waits and leases ended, by reason.")
	i.lost = count("lost", "{lease}", "Leases that ended against their holder's will.")
	i.asked = count("asked", "{lease}", "Leases that somebody has asked for.")
	i.overdue = count("overdue", "{lease}", "Leases held for nearly as long as they may be.")
	i.refused = count("refused", "{token}", "Tokens that a resource refused: somebody went on after a loss.")
	i.renewed = count("renewed", "{renewal}", "Leases renewed.")
	return i, errors.Join(errs...)
}

// buckets are 100 µs to about 100 s, fourfold from one to the next: OpenTelemetry's
// own are meant for milliseconds.
func buckets() []float64 {
	bounds := []float64{100e-6}
	for len(bounds) < 11 {
		bounds = append(bounds, bounds[len(bounds)-1]*4)
	}
	return bounds
}

// because is the attribute that says why somebody left.
func because(e lock.Event) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("bedrock.lock.reason", e.Reason()))
}
