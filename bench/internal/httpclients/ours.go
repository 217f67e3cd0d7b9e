package httpclients

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"

	"github.com/bedrock-go/bedrock/internal/http1"
)

// ours is internal/http1 as coord/httpcall and client use it.
type ours struct {
	pool    *http1.Pool
	address string
	start   []byte
	fields  [][2]string
	payload []byte
}

func openOurs(address string) (Client, error) {
	start, err := http1.Start(&url.URL{Scheme: "http", Host: address, Path: path}, agent)
	if err != nil {
		return nil, err
	}
	return &ours{
		pool:    http1.New(http1.Options{Dial: new(net.Dialer).DialContext, PerHost: perHost, Idle: idleTime}),
		address: address, start: start, fields: fields(), payload: payload(),
	}, nil
}

func (c *ours) Post(ctx context.Context) (Reply, error) {
	r, err := c.pool.Post(ctx, c.address, c.appendHead, c.payload)
	if err != nil {
		if _, unsent := errors.AsType[*http1.UnsentError](err); unsent {
			err = errors.Join(errUnsent, err)
		}
		return Reply{}, err
	}
	defer r.Close()
	return readReply(r.Status, r.Length, r)
}

func (c *ours) appendHead(b []byte) []byte {
	b = append(b, c.start...)
	for _, f := range c.fields {
		b = http1.AppendField(b, f[0], f[1])
	}
	return b
}

func (c *ours) Do(r *http.Request) (*http.Response, error) { return c.pool.RoundTrip(r) }

func (c *ours) Close() { c.pool.CloseIdleConnections() }
