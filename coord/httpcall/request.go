package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/bedrock-go/bedrock/coord/internal/reach"
	"github.com/bedrock-go/bedrock/internal/http1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

// agent is who calls.
const agent = "bedrock"

// callPlain makes a call over http.
func (c *Caller) callPlain(ctx context.Context, to *route, call *txn.Call) txn.Answer {
	head := func(b []byte) []byte { return appendFields(append(b, to.start...), call) }
	r, err := c.pool.Post(ctx, to.address, head, call.Payload)
	if err != nil {
		_, unsent := errors.AsType[*http1.UnsentError](err)
		return reach.Failed(ctx, err, !unsent)
	}
	defer r.Close()
	return c.readAnswer(reply{status: r.Status, length: r.Length, header: r.Header, body: r})
}

// appendFields writes the headers of a call.
func appendFields(b []byte, call *txn.Call) []byte {
	for name, value := range header.Fields(call) {
		if !reserved(name) {
			b = http1.AppendField(b, name, value)
		}
	}
	if len(call.Payload) > 0 {
		b = http1.AppendField(b, "Content-Type", contentType(call.Payload))
	}
	return b
}

// reserved reports whether a header belongs to the request, whatever a transaction says.
func reserved(name string) bool {
	return slices.Contains([]string{
		"Content-Length", "Content-Type", "Host", "Trailer", "Transfer-Encoding", "User-Agent",
	}, name)
}

// callSecure makes a call over https.
func (c *Caller) callSecure(ctx context.Context, to *route, call *txn.Call) txn.Answer {
	followed, attempt := reach.Follow(ctx)
	r, err := c.secure.RoundTrip(requestOf(to.blank.WithContext(followed), call))
	if err != nil {
		return attempt.Failed(ctx, err)
	}
	defer r.Body.Close()
	return c.readAnswer(reply{status: r.StatusCode, length: r.ContentLength, header: r.Header.Get, body: r.Body})
}

// requestOf puts a call into a request of its own.
func requestOf(r *http.Request, call *txn.Call) *http.Request {
	r.Header = header.Of(call)
	r.Header["User-Agent"] = []string{agent}
	if len(call.Payload) == 0 {
		return r
	}
	r.Header["Content-Type"] = []string{contentType(call.Payload)}
	r.ContentLength = int64(len(call.Payload))
	// GetBody lets the transport use another connection if it finds one closed before
	// it has sent anything.
	r.GetBody = func() (io.ReadCloser, error) { return newBody(call.Payload), nil }
	r.Body = newBody(call.Payload)
	return r
}

func contentType(payload []byte) string {
	if json.Valid(payload) {
		return "application/json"
	}
	return "application/octet-stream"
}

// body is a payload that needs no closing.
type body struct{ bytes.Reader }

func newBody(payload []byte) *body {
	b := new(body)
	b.Reset(payload)
	return b
}

func (*body) Close() error { return nil }
