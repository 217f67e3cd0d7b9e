package txns

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/txn"
)

// replicas is a coordinator with several servers: who gets no answer from one of them
// asks another.
type replicas struct {
	clients []*client.Client
	turn    atomic.Uint32
}

var _ txn.Coordinator = (*replicas)(nil)

// short is how long a client goes on with one replica, where there is another one.
const short = 500 * time.Millisecond

func dialReplicas(urls []string, patience time.Duration) (*replicas, error) {
	r := &replicas{}
	for _, url := range urls {
		c, err := client.Dial(url, &client.Options{Patience: patience})
		if err != nil {
			return nil, err
		}
		r.clients = append(r.clients, c)
	}
	return r, nil
}

func (r *replicas) close() {
	for _, c := range r.clients {
		c.Close()
	}
}

func (r *replicas) next() *client.Client { return r.clients[int(r.turn.Add(1))%len(r.clients)] }

// ask asks one after the other until there is an answer.
func (r *replicas) ask(ctx context.Context, do func(ctx context.Context, c *client.Client) error) error {
	for {
		err := askOne(ctx, r.next(), do)
		if !unanswered(err) || !nemesis.Sleep(ctx, 20*time.Millisecond) {
			return err
		}
	}
}

func askOne(ctx context.Context, c *client.Client, do func(ctx context.Context, c *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*lease)
	defer cancel()
	return do(ctx, c)
}

// unanswered tells whether another replica may know more.
func unanswered(err error) bool {
	_, doubt := errors.AsType[*txn.InDoubtError](err)
	return doubt || errors.Is(err, txn.ErrUnavailable) || errors.Is(err, txn.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded)
}

func (r *replicas) result(
	ctx context.Context, do func(ctx context.Context, c *client.Client) (txn.Result, error),
) (result txn.Result, err error) {
	err = r.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		result, err = do(ctx, c)
		return err
	})
	return result, err
}

// Submit implements [txn.Coordinator].
func (r *replicas) Submit(ctx context.Context, d txn.Definition) (string, error) {
	return d.ID, r.ask(ctx, func(ctx context.Context, c *client.Client) error {
		_, err := c.Submit(ctx, d)
		return err
	})
}

// Run implements [txn.Coordinator].
func (r *replicas) Run(ctx context.Context, d txn.Definition) (txn.Result, error) {
	return r.result(ctx, func(ctx context.Context, c *client.Client) (txn.Result, error) { return c.Run(ctx, d) })
}

// Wait implements [txn.Coordinator].
func (r *replicas) Wait(ctx context.Context, id string) (txn.Result, error) {
	return r.result(ctx, func(ctx context.Context, c *client.Client) (txn.Result, error) { return c.Wait(ctx, id) })
}

// Begin implements [txn.Coordinator].
func (r *replicas) Begin(ctx context.Context, d txn.Definition) (string, error) {
	return d.ID, r.ask(ctx, func(ctx context.Context, c *client.Client) error {
		_, err := c.Begin(ctx, d)
		return err
	})
}

// Enlist implements [txn.Coordinator].
func (r *replicas) Enlist(ctx context.Context, id string, branches ...txn.Branch) error {
	return r.ask(ctx, func(ctx context.Context, c *client.Client) error { return c.Enlist(ctx, id, branches...) })
}

// Commit implements [txn.Coordinator].
func (r *replicas) Commit(ctx context.Context, id string) error {
	return r.ask(ctx, func(ctx context.Context, c *client.Client) error { return c.Commit(ctx, id) })
}

// RollBack implements [txn.Coordinator].
func (r *replicas) RollBack(ctx context.Context, id, reason string) error {
	return r.ask(ctx, func(ctx context.Context, c *client.Client) error { return c.RollBack(ctx, id, reason) })
}

// Get is that of [txn.Inspector].
func (r *replicas) Get(ctx context.Context, id string) (t *txn.Transaction, err error) {
	err = r.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		t, err = c.Get(ctx, id)
		return err
	})
	return t, err
}
