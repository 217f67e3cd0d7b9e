package client

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"connectrpc.com/connect"
	"go.opentelemetry.io/otel/propagation"

	"github.com/bedrock-go/bedrock/internal/http1"
)

// How connections are kept.
const (
	keepIdle    = 512              // connections for calls
	idleTime    = 90 * time.Second // less than servers keep them
	pingAfter   = 15 * time.Second // of silence on a connection with streams
	pingTimeout = 10 * time.Second
)

// links are a client's ways to its server. Calls go over HTTP/1.1, which takes a quarter
// less processor time than HTTP/2; streams share one HTTP/2 connection, so that thousands
// of them cost one.
type links struct {
	calls, streams connect.HTTPClient
	dropIdle       func() // closes the connections for calls that lie idle
	close          func() // closes what lies idle of what was made here
}

func newLinks(base *url.URL, o *Options) links {
	if o.HTTP != nil {
		return links{o.HTTP, o.HTTP, o.HTTP.CloseIdleConnections, func() {}}
	}
	calls, dropIdle := callers(base, o)
	many := transport(o)
	if base.Scheme == "http" {
		many.Protocols.SetUnencryptedHTTP2(true)
	} else {
		many.Protocols.SetHTTP1(true)
		many.Protocols.SetHTTP2(true)
	}
	return links{calls, client(many), dropIdle, func() { dropIdle(); many.CloseIdleConnections() }}
}

// callers returns what makes calls: connections of our own, which take half the
// processor time, where there is nothing but TCP between us and the server.
func callers(base *url.URL, o *Options) (calls connect.HTTPClient, closeIdle func()) {
	if base.Scheme == "http" && !proxied(base) {
		p := http1.New(http1.Options{Dial: new(net.Dialer).DialContext, PerHost: keepIdle, Idle: idleTime})
		return direct{p}, p.CloseIdleConnections
	}
	t := transport(o)
	t.Protocols.SetHTTP1(true)
	return client(t), t.CloseIdleConnections
}

// proxied reports whether the environment wants a proxy between us and a server.
func proxied(base *url.URL) bool {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: base})
	return proxy != nil || err != nil
}

func transport(o *Options) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: o.TLS, Protocols: new(http.Protocols),
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		MaxIdleConnsPerHost: keepIdle, IdleConnTimeout: idleTime, DisableCompression: true,
		TLSHandshakeTimeout: idleTime / 9,
	}
}

func client(t *http.Transport) *http.Client {
	return &http.Client{
		Transport: t,
		// A redirected call would lose its body, or take the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// direct makes requests as they are, and so follows no redirects either.
type direct struct{ *http1.Pool }

// Do implements [connect.HTTPClient].
func (d direct) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }

// introduction says with every call who makes it, and which trace it belongs to.
type introduction struct{ token string }

func (i introduction) say(ctx context.Context, header http.Header) {
	if i.token != "" {
		header.Set("Authorization", "Bearer "+i.token)
	}
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
}

// WrapUnary implements [connect.Interceptor].
func (i introduction) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		i.say(ctx, req.Header())
		return next(ctx, req)
	}
}

// WrapStreamingClient implements [connect.Interceptor].
func (i introduction) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		i.say(ctx, conn.RequestHeader())
		return conn
	}
}

// WrapStreamingHandler implements [connect.Interceptor].
func (introduction) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}
