package httpclients

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
)

// shipped is net/http as one writes it by hand, with its default transport.
type shipped struct {
	client *http.Client
	url    string
}

func openShipped(address string) (Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &shipped{client: &http.Client{Transport: transport}, url: "http://" + address + path}, nil
}

func (c *shipped) Post(ctx context.Context) (Reply, error) {
	ctx, sent := followed(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(payload()))
	if err != nil {
		return Reply{}, err
	}
	r.Header.Set("User-Agent", agent)
	for _, f := range fields() {
		r.Header.Set(f[0], f[1])
	}
	reply, err := c.client.Do(r)
	if err != nil {
		return Reply{}, describe(err, sent)
	}
	defer reply.Body.Close()
	return readReply(reply.StatusCode, reply.ContentLength, reply.Body)
}

func (c *shipped) Do(r *http.Request) (*http.Response, error) { return c.client.Do(r) }

func (c *shipped) Close() { c.client.CloseIdleConnections() }

// followed returns a context that tells whether a request made with it was given a
// connection: from then on bytes may have left.
func followed(ctx context.Context) (context.Context, *atomic.Bool) {
	sent := new(atomic.Bool)
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
	return httptrace.WithClientTrace(ctx, trace), sent
}

func describe(err error, sent *atomic.Bool) error {
	if !sent.Load() {
		return errors.Join(errUnsent, err)
	}
	return err
}

// tuned is a transport of net/http, called directly as coord/httpcall does for https,
// with everything that costs and is not needed left out.
type tuned struct {
	transport *http.Transport
	blank     *http.Request
	fields    [][2]string
	payload   []byte
}

func openTuned(address string) (Client, error) {
	return newTuned(address, func(p *http.Protocols) { p.SetHTTP1(true) })
}

func openH2C(address string) (Client, error) {
	return newTuned(address, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) })
}

func newTuned(address string, choose func(*http.Protocols)) (Client, error) {
	blank, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Protocols: new(http.Protocols), DisableCompression: true, MaxIdleConnsPerHost: perHost,
		IdleConnTimeout: idleTime, MaxResponseHeaderBytes: maxHeaders,
	}
	choose(transport.Protocols)
	c := &tuned{transport: transport, blank: blank, fields: fields(), payload: payload()}
	for i := range c.fields {
		c.fields[i][0] = strings.Replace(c.fields[i][0], "Idempotency-Key", "idempotency-key", 1)
	}
	return c, nil
}

func (c *tuned) Post(ctx context.Context) (Reply, error) {
	ctx, sent := followed(ctx)
	reply, err := c.transport.RoundTrip(c.request(ctx))
	if err != nil {
		return Reply{}, describe(err, sent)
	}
	defer reply.Body.Close()
	return readReply(reply.StatusCode, reply.ContentLength, reply.Body)
}

// request copies the blank request. GetBody lets the transport use another connection
// if it finds one closed before it has sent anything. Idempotency-Key, spelt like that,
// would be leave to send a request again that the server has read.
func (c *tuned) request(ctx context.Context) *http.Request {
	r := c.blank.WithContext(ctx)
	r.Header = make(http.Header, len(c.fields)+1)
	values := make([]string, 0, len(c.fields)+1) // one allocation for all
	values = append(values, agent)
	r.Header["User-Agent"] = values[:1:1]
	for i, f := range c.fields {
		values = append(values, f[1])
		r.Header[f[0]] = values[i+1 : i+2 : i+2]
	}
	r.ContentLength = int64(len(c.payload))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.payload)), nil }
	r.Body = io.NopCloser(bytes.NewReader(c.payload))
	return r
}

func (c *tuned) Do(r *http.Request) (*http.Response, error) { return c.transport.RoundTrip(r) }

func (c *tuned) Close() { c.transport.CloseIdleConnections() }
