package server

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// LockObserver is told what becomes of the locks that a server gives out. It is called
// where it happens: it must be quick, and safe for concurrent use.
type LockObserver interface {
	ObserveLock(e LockEvent)
}

// LockEventKind says what happened.
type LockEventKind string

// A request is asked, and then granted or refused. A server keeps nothing of a grant, so
// that one that simply runs out is told to nobody.
const (
	// LockAsked: somebody wants a lock.
	LockAsked LockEventKind = "asked"
	// LockGranted: the request got it. Wait says after how long.
	LockGranted LockEventKind = "granted"
	// LockRefused: the request did not get it. Err says why.
	LockRefused LockEventKind = "refused"
	// LockRenewed: a grant lives on.
	LockRenewed LockEventKind = "renewed"
	// LockReleased: a grant was given back.
	LockReleased LockEventKind = "released"
	// LockLost: a client that wanted to renew or to release was told that it has the lock
	// no more.
	LockLost LockEventKind = "lost"
	// LockForced: somebody took a lock away from its holder.
	LockForced LockEventKind = "forced"
)

// LockEvent is one thing that happened to a lock.
type LockEvent struct {
	Kind LockEventKind
	Name string
	Wait time.Duration
	Err  error
}

// nobody observes nothing.
type nobody struct{}

// ObserveLock implements [LockObserver].
func (nobody) ObserveLock(LockEvent) {}

// asked observes a request, from its coming to its answer.
func (l *locks) asked(
	ctx context.Context, req driver.Request, take func(context.Context, driver.Request) (driver.Grant, error),
) (driver.Grant, error) {
	began := time.Now()
	l.observer.ObserveLock(LockEvent{Kind: LockAsked, Name: req.Name})
	grant, err := take(ctx, req)
	e := LockEvent{Kind: LockGranted, Name: req.Name, Wait: time.Since(began), Err: err}
	if err != nil {
		e.Kind = LockRefused
	}
	l.observer.ObserveLock(e)
	return grant, err
}

// given observes an answer to a renewal or a release. Of one that is not known nothing
// is said.
func (l *locks) given(kind LockEventKind, name string, err error) {
	switch {
	case err == nil:
		l.observer.ObserveLock(LockEvent{Kind: kind, Name: name})
	case errors.Is(err, driver.ErrLost):
		l.observer.ObserveLock(LockEvent{Kind: LockLost, Name: name, Err: err})
	}
}
