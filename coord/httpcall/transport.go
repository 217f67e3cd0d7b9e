package httpcall

import (
	"crypto/tls"
	"net/http"
	"time"
)

// transport makes the connections of one scheme, so that each is judged by the
// rules of its scheme.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
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
		MaxResponseHeaderBytes: maxHeaders,
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
