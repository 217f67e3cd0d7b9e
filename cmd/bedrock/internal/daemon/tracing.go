package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/coordotel"
)

const (
	lastFlush   = 3 * time.Second // the longest a stop waits for the collector
	complaints  = time.Minute     // between two lines of log about the collector
	longestNews = 300             // bytes of what the collector says, in the log
)

// tracing sends spans to a collector. Transactions do not notice how it is: spans
// wait in a queue of bounded size, and those that do not fit are dropped. Nil is
// tracing without a collector, which just hands on the trace contexts of others.
type tracing struct {
	exporter sdktrace.SpanExporter
	provider *sdktrace.TracerProvider
	log      *slog.Logger
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
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&discreet{SpanExporter: exporter, log: c.Logger}), sdktrace.WithResource(about),
	)
	return &tracing{exporter, provider, c.Logger}, nil
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
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.WarnContext(ctx, "traces: the last spans were not delivered", "err", err)
	}
	_ = t.exporter.Shutdown(ctx) // breaks off what still waits for the collector
}

// discreet is an exporter whose failures are told in the log, and now and then only.
// OpenTelemetry would tell every one to a handler that the whole process shares.
type discreet struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	told time.Time
	lost int // spans, since then
}

// ExportSpans implements [sdktrace.SpanExporter]. It is not called concurrently.
func (d *discreet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := d.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	d.lost += len(spans)
	if time.Since(d.told) >= complaints {
		d.log.WarnContext(ctx, "traces: the collector has not taken spans", "lost", d.lost, "err", fmt.Sprintf("%.*s", longestNews, err))
		d.told, d.lost = time.Now(), 0
	}
	return nil
}
