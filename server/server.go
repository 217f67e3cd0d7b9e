package server

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"go.opentelemetry.io/otel/propagation"

	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// New makes the handler of a server. Services or options that it cannot use are an
// *input.Error.
func New(s Services, opts *Options) (http.Handler, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	health := newHealth(&s, o)
	beside, err := newMounts(health.pages(), o.Mounts)
	if err != nil {
		return nil, err
	}
	return newGate(o, newAPI(&s, o, health), beside, health.live), nil
}

// newAPI makes the handler of all calls that permissions.go lists.
func newAPI(s *Services, o *Options, health *health) http.Handler {
	routes := http.NewServeMux()
	opts := []connect.HandlerOption{
		connect.WithCodec(newJSON("json")),
		connect.WithCodec(newJSON("json; charset=utf-8")),
		connect.WithReadMaxBytes(o.Limits.Body),
		connect.WithCompressMinBytes(compressFrom),
		connect.WithRecover(recovered(o.Logger)),
		connect.WithRequestGate(traced),
		connect.WithInterceptors(boundEnds{o.Limits.Slow}, answersMistakes{}),
	}
	if s.Coordinator != nil {
		routes.Handle(bedrockv1connect.NewTransactionServiceHandler(newTransactions(s, o), opts...))
	}
	if s.Locks != nil {
		routes.Handle(bedrockv1connect.NewLockServiceHandler(newLocks(s.Locks, o), opts...))
	}
	grpcTools(routes, health, serviceNames(s))
	return routes
}

// compressFrom is the size of answers worth compressing, for those who ask.
const compressFrom = 16 << 10

// traced lets a call belong to the trace of its caller.
func traced(ctx context.Context, _ connect.Spec, _ connect.Peer, header http.Header) (context.Context, error) {
	if header.Get("Traceparent") == "" {
		return ctx, nil
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header)), nil
}
