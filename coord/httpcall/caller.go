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
	"github.com/bedrock-go/bedrock/txn/participant/wire"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// Caller calls participants over HTTP. It is a coord.Caller.
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

// Close closes the idle connections.
func (c *Caller) Close() {
	c.pool.CloseIdleConnections()
	c.secure.CloseIdleConnections()
}

// Check refuses a target that may not be called.
func (c *Caller) Check(target txn.Target) error {
	_, err := c.routes.Get(target, c.judge)
	return err
}

// judge opens a route to a target that may be called.
func (c *Caller) judge(target txn.Target) (*route, error) {
	scheme, _, _ := strings.Cut(string(target), ":")
	if scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("scheme %q: want http or https", wire.Excerpt(scheme))
	}
	if err := c.rules.Check(string(target)); err != nil {
		return nil, err
	}
	return &route{target: target, secure: scheme == "https"}, nil
}

// Call asks the participant.
func (c *Caller) Call(ctx context.Context, target txn.Target, call txn.Call) plan.Answer {
	to, err := c.routes.Get(target, c.judge)
	if err == nil {
		err = to.ready()
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
