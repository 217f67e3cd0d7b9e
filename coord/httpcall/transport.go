package httpcall

import (
	"crypto/tls"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/internal/http1"
)

// idle is how long an unused connection is kept: less than the 5 s after which many
// servers (Node's, Apache) close it, for a call sent just then is lost.
const idle = 4 * time.Second

// newPool is for http. Each scheme has connections of its own, judged by its rules.
func (o Options) newPool() *http1.Pool {
	return http1.New(http1.Options{Dial: o.Allow.Dialer("http", o.DialTimeout).Dial, PerHost: o.PerHost, Idle: idle})
}

// newSecure is for https, where calls to a host share a connection if it speaks
// HTTP/2.
func (o Options) newSecure() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // the environment's would be asked to go where we may not
		DialContext:            o.Allow.Dialer("https", o.DialTimeout).Dial,
		TLSClientConfig:        o.tls(),
		TLSHandshakeTimeout:    o.DialTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           0, // PerHost bounds them
		MaxIdleConnsPerHost:    o.PerHost,
		IdleConnTimeout:        idle,
		MaxResponseHeaderBytes: 64 << 10,
		// Without pings a dead connection would take every call until TCP gives up.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	}
}

func (o Options) tls() *tls.Config {
	if o.TLS == nil {
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o.TLS.Clone()
}
