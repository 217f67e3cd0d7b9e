package lockotel

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/bedrock-go/bedrock/lock"
)

// span reports something that took d and ends now. It is made when it is over,
// so that nothing has to be kept for what is still going on.
func (o *observer) span(ctx context.Context, name string, d time.Duration, e lock.Event) {
	end := time.Now()
	_, span := o.tracer.Start(ctx, name, trace.WithTimestamp(end.Add(-d)), trace.WithAttributes(attributes(e)...))
	if e.Err != nil {
		span.SetAttributes(attribute.String("bedrock.lock.reason", e.Reason()))
		span.SetStatus(codes.Error, e.Err.Error())
	}
	span.End(trace.WithTimestamp(end))
}

func attributes(e lock.Event) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String("bedrock.lock.name", e.Name)}
	if e.Owner != "" {
		// A token has 64 bits without a sign, which no numeric attribute has.
		attrs = append(attrs,
			attribute.String("bedrock.lock.owner", e.Owner),
			attribute.String("bedrock.lock.token", strconv.FormatUint(e.Token, 10)))
	}
	return attrs
}
