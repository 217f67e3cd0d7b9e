package daemon

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/coordotel"
)

const (
	lastFlush = 3 * time.Second // the longest a stop waits for the collector
)

// tracing sends spans to a collector. Transactions do not notice how it is: spans
// wait in a queue of bounded size, and those that do not fit are dropped. Nil is
// tracing without a collector, which just hands on the trace contexts of others.
type tracing struct {
	provider *sdktrace.TracerProvider
	outlet   *outlet
}

// startTracing prepares what sends spans. Nothing is sent before there are some, so
// a collector that is down is no error.
func startTracing(ctx context.Context, c *Config) (*tracing, error) {
	if c.Collector == "" {
		return nil, nil //nolint:nilnil // nil is tracing without a collector
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(c.Collector))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := identity(ctx, c.Replica)
	if err != nil {
		return nil, fmt.Errorf("traces: resource: %w", err)
	}
	out := &outlet{SpanExporter: exporter, log: c.Logger}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about),
		sdktrace.WithSpanProcessor(counter{&out.ended}), sdktrace.WithBatcher(out, out.measure))
	return &tracing{provider, out}, nil
}

// identity is who sends the spans, if the environment does not say otherwise.
func identity(ctx context.Context, replica string) (*resource.Resource, error) {
	own, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "bedrock"),
		attribute.String("service.instance.id", replica),
	))
	if err != nil {
		return nil, err
	}
	return resource.Merge(own, resource.EnvironmentWithContext(ctx))
}

// transactions is the engine's side of it.
func (t *tracing) transactions() coord.Tracing {
	if t == nil {
		return coordotel.New(nil)
	}
	return coordotel.New(&coordotel.Options{TracerProvider: t.provider})
}

// stop sends what is left, as far as the collector takes it in time. Its time is its
// own: others may have used up that of the stop.
func (t *tracing) stop(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // the count says whether it has worked
	if n := t.outlet.undelivered(); n > 0 {
		t.outlet.log.WarnContext(ctx, "traces: spans have not reached the collector", "undelivered", n)
	}
	_ = t.outlet.Shutdown(ctx) // breaks off what still waits for the collector
}
