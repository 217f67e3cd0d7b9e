package lockotel

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/bedrock-go/bedrock/lock"
)

const scope = "github.com/bedrock-go/bedrock/lock/lockotel"

// Options configure [New]. The zero value and nil mean the defaults.
type Options struct {
	// TracerProvider gets the spans. Defaults to the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider gets the metrics. Defaults to the global one.
	MeterProvider metric.MeterProvider
}

// New returns an observer that reports to OpenTelemetry.
func New(opts *Options) (lock.Observer, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	instruments, err := newInstruments(o.MeterProvider.Meter(scope))
	if err != nil {
		return nil, fmt.Errorf("lockotel: %w", err)
	}
	return &observer{instruments: instruments, tracer: o.TracerProvider.Tracer(scope)}, nil
}

// observer implements [lock.Observer].
type observer struct {
	instruments

	tracer trace.Tracer
}

// Observe implements [lock.Observer].
func (o *observer) Observe(ctx context.Context, e lock.Event) {
	switch e.Kind {
	case lock.EventAcquired:
		o.acquired.Add(ctx, 1)
		o.wait.Record(ctx, e.Wait.Seconds())
		o.span(ctx, "lock wait", e.Wait, e)
	case lock.EventLeft:
		o.observeLeft(ctx, e)
	case lock.EventRenewed:
		o.renewed.Add(ctx, 1)
		o.slack.Record(ctx, e.Slack.Seconds())
	case lock.EventAsked:
		o.asked.Add(ctx, 1)
	case lock.EventOverdue:
		o.overdue.Add(ctx, 1)
	case lock.EventLost:
		o.lost.Add(ctx, 1)
	case lock.EventRefused:
		o.refused.Add(ctx, 1)
	case lock.EventQueued, lock.EventContending: // the span begins when it ends
	}
}

// observeLeft reports the end of a wait or of a lease: only a lease has an owner.
func (o *observer) observeLeft(ctx context.Context, e lock.Event) {
	o.left.Add(ctx, 1, because(e))
	if e.Owner == "" {
		o.span(ctx, "lock wait", e.Wait, e)
		return
	}
	o.hold.Record(ctx, e.Held.Seconds())
	o.span(ctx, "lock hold", e.Held, e)
}
