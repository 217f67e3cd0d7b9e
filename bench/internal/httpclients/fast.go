package httpclients

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/valyala/fasthttp"
)

// fast is fasthttp's client, told to send nothing twice. It knows of a context only
// when it ends by itself: nothing ends a call of fasthttp before its time.
type fast struct {
	host  *fasthttp.HostClient
	blank *fasthttp.Request // that all calls are copies of
}

func openFast(address string) (Client, error) { return newFast(address), nil }

func newFast(address string) *fast {
	c := &fast{
		host: &fasthttp.HostClient{
			Addr: address, Name: agent, MaxConns: 1 << 16, MaxIdleConnDuration: idleTime,
			ConnPoolStrategy: fasthttp.LIFO, MaxIdemponentCallAttempts: 1, ReadBufferSize: maxHeaders,
			MaxResponseBodySize: maxResult, DisablePathNormalizing: true, DialTimeout: dialFast,
		},
		blank: new(fasthttp.Request),
	}
	c.blank.SetRequestURI("http://" + address + path)
	c.blank.Header.SetMethod(http.MethodPost)
	for _, f := range fields() {
		c.blank.Header.Set(f[0], f[1])
	}
	c.blank.SetBodyRaw(payload())
	return c
}

// dialFast makes a connection, and of its failure an error that says so.
func dialFast(address string, limit time.Duration) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: limit}).Dial("tcp", address) //nolint:noctx // fasthttp has no context to give
	if err != nil {
		return nil, errors.Join(errUnsent, err)
	}
	return c, nil
}

func (c *fast) Post(ctx context.Context) (Reply, error) {
	q, a := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(q)
	defer fasthttp.ReleaseResponse(a)
	c.blank.CopyTo(q)
	err := c.exchange(ctx, q, a)
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		return Reply{Status: a.StatusCode(), Cut: true}, nil
	}
	if err != nil {
		return Reply{}, err
	}
	return Reply{Status: a.StatusCode(), Body: bytes.Clone(a.Body())}, nil
}

// exchange makes a call that ends with the deadline of its context, if that has one.
func (c *fast) exchange(ctx context.Context, q *fasthttp.Request, a *fasthttp.Response) error {
	if ctx.Err() != nil {
		return errors.Join(errUnsent, context.Cause(ctx))
	}
	if end, ok := ctx.Deadline(); ok {
		return c.host.DoDeadline(q, a, end)
	}
	return c.host.Do(q, a)
}

func (c *fast) Do(r *http.Request) (*http.Response, error) {
	q, a := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(q)
	defer fasthttp.ReleaseResponse(a)
	if err := toFastHTTP(r, q); err != nil {
		return nil, err
	}
	if err := c.exchange(r.Context(), q, a); err != nil {
		return nil, err
	}
	return translated(r, a), nil
}

// toFastHTTP makes of a request of net/http one of fasthttp.
func toFastHTTP(r *http.Request, q *fasthttp.Request) error {
	q.SetRequestURI(r.URL.String())
	q.Header.SetMethod(r.Method)
	for name, values := range r.Header {
		for _, value := range values {
			q.Header.Add(name, value)
		}
	}
	if r.Body == nil {
		return nil
	}
	defer r.Body.Close()
	_, err := io.Copy(q.BodyWriter(), r.Body)
	return err
}

// translated makes of a reply of fasthttp one of net/http.
func translated(r *http.Request, a *fasthttp.Response) *http.Response {
	header := make(http.Header, a.Header.Len())
	for name, value := range a.Header.All() {
		header[string(name)] = append(header[string(name)], string(value))
	}
	status := a.StatusCode()
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: int64(len(a.Body())), Request: r,
		Body: io.NopCloser(bytes.NewReader(bytes.Clone(a.Body()))),
	}
}

func (c *fast) Close() { c.host.CloseIdleConnections() }
