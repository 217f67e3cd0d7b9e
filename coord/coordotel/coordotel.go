package coordotel

import (
	"context"
	"maps"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
)

const scope = "github.com/bedrock-go/bedrock/coord/coordotel"

// Options configure [New]. The zero value and nil mean the defaults.
type Options struct {
	// TracerProvider gets the spans. Defaults to the global one.
	TracerProvider trace.TracerProvider
	// Propagator writes trace contexts into headers. Defaults to W3C's, without
	// baggage: what it holds would be stored with the transaction.
	Propagator propagation.TextMapPropagator
}

// New returns what carries traces through the transactions of a coordinator.
func New(opts *Options) coord.Tracing {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.Propagator == nil {
		o.Propagator = propagation.TraceContext{}
	}
	return &tracing{tracer: o.TracerProvider.Tracer(scope), propagator: o.Propagator}
}

// tracing implements coord.Tracing.
type tracing struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
}

// Submit implements coord.Tracing. The span is over at once: nobody knows which
// process will see the transaction's end.
func (t *tracing) Submit(ctx context.Context, d *txn.Definition) map[string]string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = t.propagator.Extract(ctx, propagation.MapCarrier(d.Headers))
	}
	name := d.Mode
	if d.Name != "" {
		name += " " + d.Name
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		attribute.String("bedrock.txn.id", d.ID),
		attribute.String("bedrock.txn.mode", d.Mode),
		attribute.String("bedrock.txn.name", d.Name),
		attribute.Int("bedrock.txn.branches", len(d.Branches)),
	))
	defer span.End()
	headers := propagation.MapCarrier{}
	t.propagator.Inject(ctx, headers)
	if len(headers) == 0 {
		return nil
	}
	return headers
}

// Call implements coord.Tracing.
func (t *tracing) Call(ctx context.Context, call *txn.Call, target txn.Target) (map[string]string, func(txn.Answer)) {
	ctx = t.propagator.Extract(ctx, propagation.MapCarrier(call.Headers))
	ctx, span := t.tracer.Start(ctx, call.Mode+" "+call.Op, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attributes(call, target)...))
	headers := propagation.MapCarrier{}
	t.propagator.Inject(ctx, headers)
	if len(headers) == 0 {
		return call.Headers, func(txn.Answer) { span.End() }
	}
	carried := maps.Clone(call.Headers)
	if carried == nil {
		carried = make(map[string]string, len(headers))
	}
	maps.Copy(carried, headers)
	return carried, func(a txn.Answer) { endSpan(span, a) }
}

func attributes(call *txn.Call, target txn.Target) []attribute.KeyValue {
	address, _, _ := strings.Cut(string(target), "?") // a query may be confidential
	return []attribute.KeyValue{
		attribute.String("bedrock.txn.id", call.Transaction),
		attribute.String("bedrock.txn.mode", call.Mode),
		attribute.String("bedrock.txn.branch", call.Branch),
		attribute.String("bedrock.txn.op", call.Op),
		attribute.Int("bedrock.txn.attempt", call.Attempt),
		attribute.Int64("bedrock.txn.epoch", call.Epoch),
		attribute.String("bedrock.txn.target", address),
	}
}

// endSpan closes the span of a call. To be refused or told to wait is no error.
func endSpan(span trace.Span, a txn.Answer) {
	span.SetAttributes(attribute.String("bedrock.txn.answer", string(a.Kind)))
	if a.Kind == txn.AnswerFailed || a.Kind == txn.AnswerUnreached {
		span.SetStatus(codes.Error, a.Note)
	}
	span.End()
}
