//go:build unix

package bank_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/txn"
)

// replicas is a coordinator with several servers: who gets no answer from one of
// them asks another.
type replicas struct {
	clients []*client.Client
	turn    atomic.Uint32
}

var _ txn.Coordinator = (*replicas)(nil)

func dialReplicas(urls []string) (*replicas, error) {
	r := &replicas{}
	for _, url := range urls {
		c, err := client.Dial(url, &client.Options{Patience: 500 * time.Millisecond})
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

// ask asks one after the other until there is an answer.
func (r *replicas) ask(ctx context.Context, do func(ctx context.Context, c *client.Client) error) error {
	for {
		c := r.clients[int(r.turn.Add(1))%len(r.clients)]
		err := r.askOne(ctx, c, do)
		if !unanswered(err) || !rest(ctx, 20*time.Millisecond) {
			return err
		}
	}
}

func (r *replicas) askOne(ctx context.Context, c *client.Client, do func(ctx context.Context, c *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*lease)
	defer cancel()
	return do(ctx, c)
}

// unanswered tells whether another replica may know more.
func unanswered(err error) bool {
	_, doubt := errors.AsType[*txn.InDoubtError](err)
	return doubt || errors.Is(err, txn.ErrUnavailable) || errors.Is(err, txn.ErrClosed)
}

func (r *replicas) result(ctx context.Context, do func(ctx context.Context, c *client.Client) (txn.Result, error)) (result txn.Result, err error) {
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

// TestUnanswered makes sure that answers are not asked for again.
func TestUnanswered(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&txn.RolledBackError{}, false},
		{&txn.ParkedError{}, false},
		{txn.ErrDecided, false},
		{txn.ErrNotFound, false},
		{&txn.InDoubtError{}, true},
		{txn.ErrUnavailable, true},
		{txn.ErrClosed, true},
	} {
		if unanswered(c.err) != c.want {
			t.Errorf("%v: want %v", c.err, c.want)
		}
	}
}
