package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	complaints  = time.Minute // between two lines of log about the collector
	longestNews = 300         // bytes of what the collector says, in the log
)

// outlet is an exporter whose failures are told in the log, and now and then only.
// OpenTelemetry would tell every one to a handler that the whole process shares, and
// nobody of spans that were dropped because the queue was full.
type outlet struct {
	sdktrace.SpanExporter
	log *slog.Logger

	ended, delivered atomic.Int64 // spans
	queue            int64        // how many may wait
	told             time.Time
	known            int64 // spans that were undelivered then
}

// measure learns how many spans wait at most. It has the form of an option since the
// size may come from the environment.
func (o *outlet) measure(opts *sdktrace.BatchSpanProcessorOptions) {
	o.queue = int64(opts.MaxQueueSize + opts.MaxExportBatchSize)
}

// ExportSpans implements [sdktrace.SpanExporter]. It is not called concurrently.
func (o *outlet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := o.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		o.delivered.Add(int64(len(spans)))
	}
	missing := o.undelivered()
	dropped := missing-o.known > o.queue
	if (err != nil || dropped) && time.Since(o.told) >= complaints {
		o.log.WarnContext(ctx, "traces: the collector does not take all spans",
			"undelivered", missing, "err", shortened(err))
		o.told, o.known = time.Now(), missing
	}
	return nil
}

// undelivered counts spans that are lost, or still wait.
func (o *outlet) undelivered() int64 { return o.ended.Load() - o.delivered.Load() }

func shortened(err error) string {
	if err == nil {
		return "too slow"
	}
	return fmt.Sprintf("%.*s", longestNews, err)
}

// counter is told of spans before they enter the queue.
type counter struct{ ended *atomic.Int64 }

// OnStart implements [sdktrace.SpanProcessor].
func (counter) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements [sdktrace.SpanProcessor].
func (c counter) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		c.ended.Add(1)
	}
}

// ForceFlush implements [sdktrace.SpanProcessor].
func (counter) ForceFlush(context.Context) error { return nil }

// Shutdown implements [sdktrace.SpanProcessor].
func (counter) Shutdown(context.Context) error { return nil }
