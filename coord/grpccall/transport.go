package grpccall

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// transport makes the connections of one scheme, so that each is judged by the
// rules of its scheme. One connection carries the calls of a host side by side.
func (o Options) transport(scheme string) *http.Transport {
	t := &http.Transport{
		Proxy:                  nil, // the environment's would be asked to go where we may not
		DialContext:            o.Allow.Dialer(scheme, o.DialTimeout).Dial,
		TLSHandshakeTimeout:    o.DialTimeout,
		DisableCompression:     true,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		Protocols:              new(http.Protocols),
		// Without pings a dead connection would take every call until TCP gives up.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	}
	if scheme == "grpcs" {
		t.TLSClientConfig = o.tls()
		t.Protocols.SetHTTP2(true)
	} else {
		t.Protocols.SetUnencryptedHTTP2(true)
	}
	return t
}

func (o Options) tls() *tls.Config {
	if o.TLS == nil {
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o.TLS.Clone()
}

// capped cuts replies off where they exceed what a call may cost.
type capped struct {
	*http.Transport
	most int64
}

// Do implements connect.HTTPClient. It follows no redirects and keeps no cookies.
func (c capped) Do(r *http.Request) (*http.Response, error) {
	reply, err := c.RoundTrip(r)
	switch {
	case err != nil:
		return nil, err
	case bypassed(reply):
		_ = reply.Body.Close()
		return nil, fmt.Errorf("%w: HTTP status %d", errNobodyThere, reply.StatusCode)
	}
	reply.Body = &cappedBody{ReadCloser: reply.Body, left: c.most}
	return reply, nil
}

// errNobodyThere is a proxy's word that the participant behind it is down.
var errNobodyThere = errors.New("nobody is there")

// bypassed reports whether a proxy has answered because no participant does: what speaks gRPC
// has a status of its own.
func bypassed(reply *http.Response) bool {
	switch reply.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return reply.Header.Get("Grpc-Status") == ""
	default:
		return false
	}
}

var errTooLong = errors.New("the response is too long")

type cappedBody struct {
	io.ReadCloser
	left int64
}

// Read fails when more than the limit comes.
func (b *cappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
