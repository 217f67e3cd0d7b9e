package server

import (
	"context"
	"log/slog"
	"net/http"

	"connectrpc.com/connect"
	"go.opentelemetry.io/otel/propagation"

	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
)

// New makes the handler of a server.
func New(c Config) (http.Handler, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	limits := c.Limits.withDefaults()
	if err := limits.check(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.LockObserver == nil {
		c.LockObserver = nobody{}
	}
	routes := http.NewServeMux()
	api(routes, &c, &limits)
	pages(routes, &c)
	return newGate(&c, &limits, routes), nil
}

// api mounts the services.
func api(routes *http.ServeMux, c *Config, limits *Limits) {
	opts := []connect.HandlerOption{
		connect.WithCodec(newJSON("json")),
		connect.WithCodec(newJSON("json; charset=utf-8")),
		connect.WithReadMaxBytes(limits.Body),
		connect.WithCompressMinBytes(compressFrom),
		connect.WithRecover(recovered(c.Logger)),
		connect.WithRequestGate(traced),
	}
	if c.Coordinator != nil {
		routes.Handle(bedrockv1connect.NewTransactionServiceHandler(newTransactions(c, limits), opts...))
	}
	if c.Locks != nil {
		routes.Handle(bedrockv1connect.NewLockServiceHandler(newLocks(c, limits), opts...))
	}
}

// compressFrom is the size of answers worth compressing, for those who ask.
const compressFrom = 16 << 10

// pages mounts what is not the API.
func pages(routes *http.ServeMux, c *Config) {
	health := newHealth(c)
	routes.HandleFunc("GET "+aliveness, health.live)
	routes.HandleFunc("GET /readyz", health.readiness)
	routes.HandleFunc("GET /healthz", health.report)
	grpcTools(routes, health, services(c))
	if c.Metrics != nil {
		routes.Handle("GET /metrics", c.Metrics)
	}
	if c.Console != nil {
		routes.Handle("/", http.NewCrossOriginProtection().Handler(c.Console))
	}
}

// traced lets a call belong to the trace of its caller.
func traced(ctx context.Context, _ connect.Spec, _ connect.Peer, header http.Header) (context.Context, error) {
	if header.Get("Traceparent") == "" {
		return ctx, nil
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header)), nil
}

// recovered answers for a handler that panicked.
func recovered(log *slog.Logger) func(context.Context, connect.Spec, http.Header, any) error {
	return func(ctx context.Context, spec connect.Spec, _ http.Header, what any) error {
		log.ErrorContext(ctx, "server: panic", "procedure", spec.Procedure, "panic", what)
		return connect.NewError(connect.CodeInternal, errInternal)
	}
}
