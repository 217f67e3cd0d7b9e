//go:build unix

package bank_test

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// lease is how long a replica keeps transactions it says nothing about.
const lease = time.Second

// The letters of replicas.
const fenced = 'f' // a write was refused because another one has taken over

// runReplica is a coordinator and its server, as users run them.
func runReplica(ctx context.Context, s *settings) error {
	seen, err := openEvidence(s.Evidence)
	if err != nil {
		return err
	}
	calls, err := httpcall.New(nil)
	if err != nil {
		return err
	}
	defer calls.Close()
	store, co, err := startReplica(ctx, s, &coord.Options{
		Replica: s.Name, Lease: lease, Callers: []txn.Caller{calls},
		Observer: &witness{seen}, Logger: slog.Default(),
	})
	if err != nil {
		return err
	}
	return errors.Join(serveReplica(ctx, s, co), stopReplica(ctx, co), store.Close())
}

// startReplica waits for a store that may be down at the moment.
func startReplica(ctx context.Context, s *settings, opts *coord.Options) (driver.Store, *coord.Coordinator, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var store driver.Store
	var co *coord.Coordinator
	failed := errors.New("never tried")
	err := until(ctx, func() bool {
		if store, failed = openStore(ctx, s.Store); failed != nil {
			return false
		}
		if co, failed = coord.New(store, opts); failed == nil {
			failed = co.Start(ctx)
		}
		if failed != nil {
			_ = store.Close()
		}
		return failed == nil
	})
	return store, co, errors.Join(err, failed)
}

func serveReplica(ctx context.Context, s *settings, co *coord.Coordinator) error {
	h, err := server.New(server.Services{Coordinator: co, Inspector: co, Operator: co, Topics: co}, nil)
	if err != nil {
		return err
	}
	l, err := stage.Listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	return server.Serve(ctx, l, h, nil)
}

func stopReplica(ctx context.Context, co *coord.Coordinator) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return co.Stop(ctx)
}

// witness writes down what the parent has to know.
type witness struct{ seen *evidence }

// Observe implements [coord.Observer].
func (w *witness) Observe(_ context.Context, e coord.Event) {
	if e.Kind == coord.EventFenced {
		w.seen.add(fenced)
	}
}
