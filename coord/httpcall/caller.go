package httpcall

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/internal/reach"
	"github.com/bedrock-go/bedrock/internal/http1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

// Caller calls participants over HTTP. It is a [txn.Caller].
type Caller struct {
	rules     *allow.Rules
	pool      *http1.Pool     // for http
	secure    *http.Transport // for https
	maxResult int64
	routes    reach.Cache[*route]
}

// New makes a Caller. Close it when no coordinator uses it any more.
func New(opts *Options) (*Caller, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Caller{rules: o.Allow, pool: o.newPool(), secure: o.newSecure(), maxResult: int64(o.MaxResult)}, nil
}

// Close closes the idle connections. It may be called twice.
func (c *Caller) Close() error {
	c.pool.CloseIdleConnections()
	c.secure.CloseIdleConnections()
	return nil
}

// Schemes are http and https.
func (*Caller) Schemes() []string { return []string{"http", "https"} }

// Check refuses a target that may not be called.
func (c *Caller) Check(target txn.Target) error {
	_, err := c.routes.Get(target, c.newRoute)
	return err
}

// newRoute opens a route to a target that may be called.
func (c *Caller) newRoute(target txn.Target) (*route, error) {
	scheme, _, _ := strings.Cut(string(target), ":")
	if scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("scheme %q: want http or https", header.Excerpt(scheme))
	}
	if err := c.rules.Check(string(target)); err != nil {
		return nil, err
	}
	return &route{target: target, secure: scheme == "https"}, nil
}

// Call asks the participant.
func (c *Caller) Call(ctx context.Context, target txn.Target, call txn.Call) txn.Answer {
	to, err := c.routes.Get(target, c.newRoute)
	if err == nil {
		err = to.prepareOnce()
	}
	switch {
	case err != nil:
		return reach.Unreached(err)
	case to.secure:
		return c.callSecure(ctx, to, &call)
	default:
		return c.callPlain(ctx, to, &call)
	}
}
