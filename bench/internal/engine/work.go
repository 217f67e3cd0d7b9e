package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Role is the child's role.
const Role = "bedrock"

// Job says what runs.
type Job struct {
	// Store is sqlite, mariadb, postgres or redis.
	Store string
	// Place is a folder for SQLite, an address for Redis, else a URL.
	Place string
	// Replica names the coordinator.
	Replica string
	// Serve puts it behind the server.
	Serve bool
	// Profile is the file for a CPU profile, empty for none.
	Profile string
}

// Ready is where the server is, if there is one.
type Ready struct{ URL string }

// engine is a coordinator and what it works with.
type engine struct {
	store     driver.Store
	calls     *httpcall.Caller
	co        *coord.Coordinator
	functions functions
	tally     tally
}

// Work is the life of a coordinator.
func Work(ctx context.Context, pipe *child.Pipe) error {
	var job Job
	if err := pipe.Job(&job); err != nil {
		return err
	}
	e, err := start(ctx, job)
	if err != nil {
		return err
	}
	end, err := child.Profile(job.Profile)
	if err == nil {
		err = errors.Join(e.answerOrders(ctx, job, pipe), end())
	}
	return errors.Join(err, e.stop(context.WithoutCancel(ctx)))
}

// start opens the store and starts the coordinator, with all its defaults.
func start(ctx context.Context, job Job) (*engine, error) {
	store, err := open(ctx, job)
	if err != nil {
		return nil, err
	}
	e := &engine{store: store}
	if err := e.start(ctx, job.Replica); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return e, nil
}

func (e *engine) start(ctx context.Context, replica string) (err error) {
	if e.calls, err = httpcall.New(nil); err != nil {
		return err
	}
	e.co, err = coord.New(e.store, &coord.Options{
		Replica:  replica,
		Callers:  []txn.Caller{e.calls},
		Observer: &e.tally,
	})
	if err != nil {
		return err
	}
	if err := e.functions.register(e.co); err != nil {
		return err
	}
	return e.co.Start(ctx)
}

// answerOrders answers orders, behind the server if the job asks for it.
func (e *engine) answerOrders(ctx context.Context, job Job, pipe *child.Pipe) error {
	if !job.Serve {
		return pipe.Serve(Ready{}, e.carryOut(ctx))
	}
	served, err := startServer(ctx, e)
	if err != nil {
		return err
	}
	return errors.Join(pipe.Serve(Ready{served.url}, e.carryOut(ctx)), served.stop())
}

// stop ends everything in the order in which it depends on one another.
func (e *engine) stop(ctx context.Context) error {
	err := e.co.Stop(ctx)
	e.calls.Close()
	return errors.Join(err, e.store.Close())
}

// The orders a coordinator's process takes.
const (
	orderState  = "state"
	orderRun    = "run"
	orderOutage = "outage"
)

// carryOut carries out orders.
func (e *engine) carryOut(ctx context.Context) child.Answer {
	return func(name string, args json.RawMessage) (any, error) {
		switch name {
		case orderState:
			return e.tally.state(), nil
		case orderRun:
			var s load.Stretch
			if err := json.Unmarshal(args, &s); err != nil {
				return nil, err
			}
			return run(ctx, e.co, s)
		case orderOutage:
			var o Outage
			if err := json.Unmarshal(args, &o); err != nil {
				return nil, err
			}
			return e.outage(ctx, o)
		default:
			return nil, fmt.Errorf("no order is called %q", name)
		}
	}
}

// Process is a coordinator seen from the program that started it.
type Process struct {
	// URL is where its server is.
	URL string

	*child.Process
}

// Start runs a coordinator in a process of its own.
func Start(ctx context.Context, job Job) (*Process, error) {
	var r Ready
	process, err := child.Start(ctx, Role, job, &r)
	if err != nil {
		return nil, err
	}
	return &Process{URL: r.URL, Process: process}, nil
}

// State returns what it has come to.
func (p *Process) State() (State, error) {
	var s State
	err := p.Ask(orderState, nil, &s)
	return s, err
}

// Run runs sagas of functions for a stretch.
func (p *Process) Run(s load.Stretch) (*load.Tally, error) {
	tally := new(load.Tally)
	return tally, p.Ask(orderRun, s, tally)
}

// Outage interrupts the functions.
func (p *Process) Outage(o Outage) (*Recovery, error) {
	r := new(Recovery)
	return r, p.Ask(orderOutage, o, r)
}
