//go:build unix

package bank_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// victim is a transfer that is cut short, and where.
type victim struct {
	Transfer transfer
	Point    point
	Lease    time.Duration
}

// point is a place in a run: before or after the nth call of a kind. The zero point
// is nowhere.
type point struct {
	Kind  string
	N     int
	After bool
}

// runVictim makes a transfer with a coordinator of its own, which dies at its
// point. One that comes to its end prints how often it called what.
func runVictim(ctx context.Context, s *settings) error {
	m := &mortal{id: s.Victim.Transfer.ID, at: s.Victim.Point, count: make(map[string]int)}
	calls, err := httpcall.New(nil)
	if err != nil {
		return err
	}
	defer calls.Close()
	store, err := openStore(ctx, s.Store)
	if err != nil {
		return err
	}
	co, err := coord.New(&mortalStore{store, m}, &coord.Options{
		Replica: s.Name, Lease: s.Victim.Lease, Callers: []txn.Caller{&mortalCaller{calls, m}},
	})
	if err != nil {
		return err
	}
	if err := co.Start(ctx); err != nil {
		return err
	}
	d, err := s.Victim.Transfer.definition(s.Service)
	if err != nil {
		return err
	}
	_, err = co.Run(ctx, d)
	if rolledBack, ok := errors.AsType[*txn.RolledBackError](err); ok && rolledBack != nil {
		err = nil
	}
	if s.Victim.Point.Kind == "Claim" { // comes by itself
		sleep.For(ctx, patience)
	}
	return errors.Join(err, m.print(), stopReplica(ctx, co), store.Close())
}

// mortal counts calls for one transaction, and kills the process at one of them. A
// victim may also take over what other victims have left; that is not counted.
type mortal struct {
	id    string
	at    point
	mu    sync.Mutex
	count map[string]int
}

// do makes a call, and dies before or after it if its time has come. While it dies
// nothing else begins.
func (m *mortal) do(kind, id string, call func()) {
	if id != m.id {
		call()
		return
	}
	m.mu.Lock()
	m.count[kind]++
	mine := kind == m.at.Kind && m.count[kind] == m.at.N
	if mine && !m.at.After {
		die()
	}
	m.mu.Unlock()
	call()
	if mine {
		m.mu.Lock()
		die()
	}
}

// die ends the process as a crash would: nothing is closed, nothing is flushed.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (m *mortal) print() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return json.NewEncoder(os.Stdout).Encode(m.count)
}

// mortalCaller is how a victim calls participants.
type mortalCaller struct {
	txn.Caller

	m *mortal
}

// Call implements [txn.Caller].
func (c *mortalCaller) Call(ctx context.Context, target txn.Target, call txn.Call) (a txn.Answer) {
	c.m.do("call "+call.Op, call.Transaction, func() { a = c.Caller.Call(ctx, target, call) })
	return a
}

// mortalStore is the store of a victim.
type mortalStore struct {
	driver.Store

	m *mortal
}

// Create implements [driver.Store].
func (s *mortalStore) Create(ctx context.Context, rec *driver.Record) (err error) {
	s.m.do("Create", rec.ID, func() { err = s.Store.Create(ctx, rec) })
	return err
}

// Update implements [driver.Store].
func (s *mortalStore) Update(ctx context.Context, was driver.Version, rec *driver.Record) (err error) {
	s.m.do("Update", rec.ID, func() { err = s.Store.Update(ctx, was, rec) })
	return err
}

// Claim implements [driver.Store].
func (s *mortalStore) Claim(ctx context.Context, c driver.Claim) (claimed driver.Claimed, err error) {
	s.m.do("Claim", s.m.id, func() { claimed, err = s.Store.Claim(ctx, c) })
	return claimed, err
}
