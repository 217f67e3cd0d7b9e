package httpcall

import (
	"crypto/tls"
	"net/http"
	"time"
)

// idle is how long an unused connection is kept: less than the 5 s after which many
// servers (Node's, Apache) close it, for a call sent just then is lost.
const idle = 4 * time.Second

// transport makes the connections of one scheme, so that each is judged by the
// rules of its scheme.
func (o Options) transport(scheme string) *http.Transport {
	t := &http.Transport{
		Proxy:                  nil, // the environment's would be asked to go where we may not
		DialContext:            o.Allow.Dialer(scheme, o.DialTimeout).Dial,
		TLSHandshakeTimeout:    o.DialTimeout,
		DisableCompression:     true,
		MaxIdleConns:           0, // PerHost bounds them
		MaxIdleConnsPerHost:    o.PerHost,
		IdleConnTimeout:        idle,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if scheme == "https" {
		t.TLSClientConfig = o.tls()
		t.ForceAttemptHTTP2 = true
		// Without pings a dead connection would take every call until TCP gives up.
		t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second}
	}
	return t
}

func (o Options) tls() *tls.Config {
	if o.TLS == nil {
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o.TLS.Clone()
}
