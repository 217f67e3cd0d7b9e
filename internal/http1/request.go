package http1

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

const (
	// together is how long a body is copied behind the head; a longer one follows it
	// from where it is.
	together = 16 << 10
	// reusable is the largest buffer that is kept.
	reusable = 64 << 10
)

// Start makes what the requests to a URL begin with: the first line of a POST, Host and
// User-Agent, as the standard library writes them.
func Start(u *url.URL, agent string) ([]byte, error) {
	var get bytes.Buffer
	r := http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"User-Agent": {agent}}}
	if err := r.Write(&get); err != nil { // a GET has no Content-Length
		return nil, err
	}
	text := bytes.TrimSuffix(get.Bytes(), []byte("\r\n"))
	return append([]byte(http.MethodPost), text[len(http.MethodGet):]...), nil
}

// Post sends a POST request to an address. head appends its first line and its header
// fields, each with the end of its line, but Content-Length, which follows from the
// body, and nothing else that says where the request ends.
func (p *Pool) Post(ctx context.Context, address string, head func(b []byte) []byte, body []byte) (*Reply, error) {
	message := p.message()
	defer p.reuse(message)
	b := append(head(message.AvailableBuffer()), "Content-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(body)), 10), "\r\n\r\n"...)
	if len(body) <= together {
		b, body = append(b, body...), nil
	}
	message.Write(b)
	return p.exchange(ctx, address, message.Bytes(), body, nil)
}

func (p *Pool) message() *bytes.Buffer { return p.messages.Get().(*bytes.Buffer) }

// reuse keeps a buffer for the next request.
func (p *Pool) reuse(message *bytes.Buffer) {
	if message.Cap() <= reusable {
		message.Reset()
		p.messages.Put(message)
	}
}

// RoundTrip implements http.RoundTripper, for requests and replies of moderate size
// and http URLs: the request is put together before it is sent.
func (p *Pool) RoundTrip(r *http.Request) (*http.Response, error) {
	message := p.message()
	defer p.reuse(message)
	err := r.Write(message) // which closes the body
	if err == nil && r.URL.Scheme != "http" {
		err = fmt.Errorf("scheme %q: want http", r.URL.Scheme) // no secret leaves in the open
	}
	if err != nil {
		return nil, &UnsentError{err}
	}
	reply, err := p.exchange(r.Context(), Address(r.URL), message.Bytes(), nil, r)
	if err != nil {
		return nil, err
	}
	return reply.response(r), nil
}

// response makes what net/http knows of a reply.
func (r *Reply) response(to *http.Request) *http.Response {
	if r.full != nil {
		full := *r.full
		full.Body = r
		return &full
	}
	status, header := r.conn.header()
	if !r.keep {
		header.Del("Connection") // as http.ReadResponse does, which says so in Close
	}
	return &http.Response{
		Status: status, StatusCode: r.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: r, ContentLength: r.Length, Close: !r.keep, Request: to,
	}
}
