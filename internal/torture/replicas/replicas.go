// Package replicas is how clients of a torture reach a coordinator that has several servers.
package replicas

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
)

// Coordinator has several servers: who gets no answer from one of them asks another.
type Coordinator struct {
	opts    Options
	clients []*client.Client
	turn    atomic.Uint32
}

// Options say how long answers are waited for.
type Options struct {
	Patience time.Duration // of a client with its server, where there is another one
	Each     time.Duration // for one answer, however patient the client is
}

var _ txn.Coordinator = (*Coordinator)(nil)

// Dial makes a coordinator of servers.
func Dial(urls []string, o Options) (*Coordinator, error) {
	r := &Coordinator{opts: o}
	for _, url := range urls {
		c, err := client.Dial(url, &client.Options{Patience: o.Patience})
		if err != nil {
			return nil, err
		}
		r.clients = append(r.clients, c)
	}
	return r, nil
}

// Close closes the connections.
func (r *Coordinator) Close() {
	for _, c := range r.clients {
		c.Close()
	}
}

// Next is the next server's client.
func (r *Coordinator) Next() *client.Client { return r.clients[int(r.turn.Add(1))%len(r.clients)] }

// Ask asks one after the other until there is an answer.
func (r *Coordinator) Ask(ctx context.Context, do func(ctx context.Context, c *client.Client) error) error {
	for {
		err := r.AskOne(ctx, do)
		if !Unanswered(err) || !sleep.For(ctx, 20*time.Millisecond) {
			return err
		}
	}
}

// AskOne asks the next one, once.
func (r *Coordinator) AskOne(ctx context.Context, do func(ctx context.Context, c *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Each)
	defer cancel()
	return do(ctx, r.Next())
}

// Unanswered reports whether another replica may know more.
func Unanswered(err error) bool {
	_, doubt := errors.AsType[*txn.InDoubtError](err)
	return doubt || errors.Is(err, txn.ErrUnavailable) || errors.Is(err, txn.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded)
}

func (r *Coordinator) result(
	ctx context.Context, do func(ctx context.Context, c *client.Client) (txn.Result, error),
) (result txn.Result, err error) {
	err = r.Ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		result, err = do(ctx, c)
		return err
	})
	return result, err
}

// Submit implements [txn.Coordinator].
func (r *Coordinator) Submit(ctx context.Context, d txn.Definition) (string, error) {
	return d.ID, r.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		_, err := c.Submit(ctx, d)
		return err
	})
}

// Run implements [txn.Coordinator].
func (r *Coordinator) Run(ctx context.Context, d txn.Definition) (txn.Result, error) {
	return r.result(ctx, func(ctx context.Context, c *client.Client) (txn.Result, error) { return c.Run(ctx, d) })
}

// Wait implements [txn.Coordinator].
func (r *Coordinator) Wait(ctx context.Context, id string) (txn.Result, error) {
	return r.result(ctx, func(ctx context.Context, c *client.Client) (txn.Result, error) { return c.Wait(ctx, id) })
}

// Begin implements [txn.Coordinator].
func (r *Coordinator) Begin(ctx context.Context, d txn.Definition) (string, error) {
	return d.ID, r.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		_, err := c.Begin(ctx, d)
		return err
	})
}

// Enlist implements [txn.Coordinator].
func (r *Coordinator) Enlist(ctx context.Context, id string, branches ...txn.Branch) error {
	return r.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Enlist(ctx, id, branches...)
	})
}

// Commit implements [txn.Coordinator].
func (r *Coordinator) Commit(ctx context.Context, id string) error {
	return r.Ask(ctx, func(ctx context.Context, c *client.Client) error { return c.Commit(ctx, id) })
}

// RollBack implements [txn.Coordinator].
func (r *Coordinator) RollBack(ctx context.Context, id, reason string) error {
	return r.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		return c.RollBack(ctx, id, reason)
	})
}

// Get is that of [txn.Inspector].
func (r *Coordinator) Get(ctx context.Context, id string) (t *txn.Transaction, err error) {
	err = r.Ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		t, err = c.Get(ctx, id)
		return err
	})
	return t, err
}
