package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// api is a worker's connection to the server.
type api struct{ http http.Client }

func dial(socket string) *api {
	var dialer net.Dialer
	return &api{http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
	}}}
}

// base is a URL for requests; the host in it does not matter.
const base = "http://demo"

// askServer sends one JSON value and returns another.
func askServer[Out any](ctx context.Context, a *api, path string, in any) (out Out, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	var answer reply[Out]
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return out, fmt.Errorf("%s: %w", resp.Status, err)
	}
	return answer.Value, answer.Err.err()
}

func (a *api) read(ctx context.Context, worker string, token uint64) (int, error) {
	return askServer[int](ctx, a, "/read", turn{Worker: worker, Token: token})
}

func (a *api) write(ctx context.Context, worker string, token uint64, balance int) error {
	_, err := askServer[struct{}](ctx, a, "/write", turn{worker, token, balance})
	return err
}

// remote is a lock backend on the server: a few methods, and package lock does
// the rest.
type remote struct{ api *api }

var (
	_ driver.Backend = (*remote)(nil)
	_ driver.Waiter  = (*remote)(nil)
)

// Acquire implements [driver.Backend].
func (r *remote) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return askServer[driver.Grant](ctx, r.api, "/acquire", req)
}

// Renew implements [driver.Backend].
func (r *remote) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	wired, err := askServer[[]*wireError](ctx, r.api, "/renew", grants)
	for i := range errs {
		if errs[i] = err; err == nil {
			errs[i] = wired[i].err()
		}
	}
	return errs
}

// Release implements [driver.Backend].
func (r *remote) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	return askServer[int](ctx, r.api, "/release", g)
}

// Close implements [driver.Backend].
func (r *remote) Close() error {
	r.api.http.CloseIdleConnections()
	return nil
}

// Watch implements [driver.Waiter]. The first byte says that the server listens.
func (r *remote) Watch(ctx context.Context, name string, _ driver.Kind) (driver.Watch, error) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)() // ctx bounds the beginning only
	req, err := http.NewRequestWithContext(lasting, http.MethodGet, base+"/watch?name="+url.QueryEscape(name), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	resp, err := r.api.http.Do(req) //nolint:bodyclose // read closes it, and so does cancel
	if err == nil {
		_, err = io.ReadFull(resp.Body, make([]byte, 1))
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watch: %w", err)
	}
	w := &watch{c: make(chan struct{}, 1), cancel: cancel}
	go w.read(resp.Body)
	return w, nil
}

// watch hears of releases.
type watch struct {
	c      chan struct{}
	count  atomic.Uint64
	cancel context.CancelFunc
}

// C implements [driver.Watch].
func (w *watch) C() <-chan struct{} { return w.c }

// Count implements [driver.Watch].
func (w *watch) Count() uint64 { return w.count.Load() }

// Close implements [driver.Watch].
func (w *watch) Close() { w.cancel() }

// read makes a signal of every byte, and a last one of the end.
func (w *watch) read(body io.ReadCloser) {
	defer body.Close()
	buf := make([]byte, 16)
	for {
		n, err := body.Read(buf)
		w.count.Add(uint64(n))
		select {
		case w.c <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}
