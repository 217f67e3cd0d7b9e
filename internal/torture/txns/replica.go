package txns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/storeurl"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// lease is how long a replica keeps transactions that it says nothing about.
	lease = time.Second
	// perTarget is low, so that a burst has to queue.
	perTarget = 16
	// patience bounds what takes a moment on an idle machine.
	patience = 30 * time.Second
)

// runReplica is a coordinator and its server, as users run them.
func runReplica(ctx context.Context, j *job) error {
	calls, err := httpcall.New(nil)
	if err != nil {
		return err
	}
	defer calls.Close()
	logger := slog.New(slog.DiscardHandler)
	f := &functions{service: j.Service, calls: calls}
	store, co, err := startReplica(ctx, j, &coord.Options{
		Replica: j.Name, Lease: j.Lease, Callers: []txn.Caller{calls}, PerTarget: perTarget,
		Logger: logger,
	}, f)
	if err != nil {
		return err
	}
	return errors.Join(serveReplica(ctx, j, co), stopReplica(ctx, co, f), store.Close())
}

// startReplica waits for a store that may be down at the moment.
func startReplica(ctx context.Context, j *job, opts *coord.Options, f *functions) (driver.Store,
	*coord.Coordinator, error,
) {
	location, err := storeurl.Parse(j.Store)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		store, co, err := tryReplica(ctx, location, opts, f)
		if err == nil || !sleep.For(ctx, 50*time.Millisecond) {
			return store, co, err
		}
	}
}

func tryReplica(ctx context.Context, l *storeurl.Location, opts *coord.Options, f *functions) (driver.Store,
	*coord.Coordinator, error,
) {
	store, err := l.Open(ctx, &storeurl.Options{AllowVolatile: true})
	if err != nil {
		return nil, nil, err
	}
	co, err := coord.New(store, opts)
	if err == nil {
		err = errors.Join(f.register(co), co.Start(ctx))
	}
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, co, nil
}

func serveReplica(ctx context.Context, j *job, co *coord.Coordinator) error {
	h, err := server.New(server.Services{Coordinator: co, Inspector: co, Operator: co, Topics: co}, nil)
	if err != nil {
		return err
	}
	l, err := stage.Listen(ctx, j.Addr)
	if err != nil {
		return err
	}
	return server.Serve(ctx, l, h, nil)
}

// stopReplica stops it in less time than it is given. It cannot wait for functions that
// never return, and says so.
func stopReplica(ctx context.Context, co *coord.Coordinator, f *functions) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience/3)
	defer cancel()
	err := co.Stop(ctx)
	if f.stuck.Load() > 0 && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// functions are participants inside the replica: they pass their calls on to the service.
type functions struct {
	service string
	calls   txn.Caller
	stuck   atomic.Int64 // calls that never return
}

// functionPrefix begins the names of participants that are functions.
const functionPrefix = "torture."

func (f *functions) register(co *coord.Coordinator) error {
	var failed error
	for _, name := range []string{"debit", "credit"} {
		failed = errors.Join(failed, co.Register(functionPrefix+name, f.pass))
	}
	return failed
}

func (f *functions) pass(ctx context.Context, call txn.Call) ([]byte, error) {
	f.hang(ctx, call)
	answer := f.calls.Call(ctx, txn.Target(f.service+"/"+call.Branch), call)
	switch answer.Kind {
	case txn.AnswerDone:
		return answer.Result, nil
	case txn.AnswerRefused:
		return nil, txn.Abort(errors.New(answer.Note))
	default:
		return nil, errors.New(answer.Note)
	}
}

// hang never returns while the service says that functions are stuck: some functions
// heed no context.
func (f *functions) hang(ctx context.Context, _ txn.Call) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.service+"/stuck", nil)
	if err != nil {
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	res.Body.Close()
	if res.StatusCode == http.StatusLocked {
		f.stuck.Add(1)
		select {}
	}
}

// address is the URL of an address.
func address(addr string) string {
	if strings.Contains(addr, "://") {
		return addr
	}
	return fmt.Sprintf("http://%s", addr)
}
