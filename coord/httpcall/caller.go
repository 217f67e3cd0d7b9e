package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/internal/reach"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/wire"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Caller calls participants over HTTP. It is a coord.Caller.
type Caller struct {
	rules      *allow.Rules
	transports map[string]transport // by scheme
	maxResult  int64
	targets    reach.Cache[*http.Request]
}

// New makes a Caller. Close it when no coordinator uses it any more.
func New(opts *Options) (*Caller, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Caller{
		rules:      o.Allow,
		transports: map[string]transport{"http": o.newPool(), "https": o.newSecure()},
		maxResult:  int64(o.MaxResult),
	}, nil
}

// Close closes the idle connections.
func (c *Caller) Close() {
	for _, t := range c.transports {
		t.CloseIdleConnections()
	}
}

// Check refuses a target that may not be called.
func (c *Caller) Check(target txn.Target) error {
	if scheme, _, _ := strings.Cut(string(target), ":"); c.transports[scheme] == nil {
		return fmt.Errorf("scheme %q: want http or https", wire.Excerpt(scheme))
	}
	return c.rules.Check(string(target))
}

// Call asks the participant.
func (c *Caller) Call(ctx context.Context, target txn.Target, call txn.Call) plan.Answer {
	blank, err := c.targets.Get(target, c.blank)
	if err != nil {
		return reach.Unreached(err)
	}
	followed, attempt := reach.Follow(ctx)
	reply, err := c.transports[blank.URL.Scheme].RoundTrip(fill(blank.WithContext(followed), &call))
	if err != nil {
		return attempt.Failed(ctx, err)
	}
	defer reply.Body.Close()
	return c.read(reply)
}

// blank makes the request that all calls of a target are copies of.
func (c *Caller) blank(target txn.Target) (*http.Request, error) {
	if err := c.Check(target); err != nil {
		return nil, err
	}
	return http.NewRequestWithContext(context.Background(), http.MethodPost, string(target), nil)
}

// fill puts a call into a request of its own.
func fill(r *http.Request, call *txn.Call) *http.Request {
	r.Header = wire.Header(call)
	r.Header["User-Agent"] = []string{"bedrock"}
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
