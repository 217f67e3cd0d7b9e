package daemon

import (
	"errors"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/coordprom"
	"github.com/bedrock-go/bedrock/coord/grpccall"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

func (d *Daemon) newEngine() (*coord.Coordinator, error) {
	callers, err := d.callers()
	if err != nil {
		return nil, err
	}
	counter, _ := d.config.Store.(driver.Counter)
	var engine *coord.Coordinator // metrics are collected when it serves
	observer, err := coordprom.New(d.metrics, &coordprom.Options{
		Store: counter, Trouble: func() error { return engine.Trouble() },
	})
	if err != nil {
		return nil, err
	}
	engine, err = coord.New(d.config.Store, &coord.Options{
		Replica: d.config.Replica, Callers: callers, Lease: d.config.Lease, Retention: d.retention(),
		Elsewhere: d.config.Elsewhere,
		Observer:  observer, Tracing: d.tracing.transactions(), Logger: d.config.Logger,
	})
	if err != nil {
		return nil, err
	}
	return engine, RegisterSamples(engine)
}

func (d *Daemon) callers() ([]txn.Caller, error) {
	overHTTP, err := httpcall.New(&httpcall.Options{Allow: d.config.Allow})
	overGRPC, err2 := grpccall.New(&grpccall.Options{Allow: d.config.Allow})
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return []txn.Caller{overHTTP, overGRPC}, nil
}

func (d *Daemon) retention() coord.Retention {
	r := coord.Retention{Keep: d.config.Keep}
	if d.config.Archive != "" {
		r.Archive = archive{d.config.Archive}.add
	}
	return r
}
