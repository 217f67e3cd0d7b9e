package server

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// LockObserver is told what becomes of the locks that a server gives out. Observe is called
// where it happens: it must be quick, and safe for concurrent use. If it panics, the log is
// told.
type LockObserver interface {
	// Observe receives one event. ctx is that of the request, or of what is done after it.
	Observe(ctx context.Context, e LockEvent)
}

// LockEventKind says what happened.
type LockEventKind string

// A request is asked, and then granted or refused. A server remembers no grants, so there
// is no event for one that simply runs out. Of one that has a token one end is told, however
// often a release is repeated.
const (
	// LockEventAsked: somebody wants a lock.
	LockEventAsked LockEventKind = "asked"
	// LockEventGranted: the request got it. Wait says after how long. One that stands in the store's line is refused
	// first, and granted it later: then it is Passed, and Wait says for how long it stood.
	LockEventGranted LockEventKind = "granted"
	// LockEventRefused: the request did not get it. Err says why.
	LockEventRefused LockEventKind = "refused"
	// LockEventRenewed: a grant lives on.
	LockEventRenewed LockEventKind = "renewed"
	// LockEventReleased: a grant was given back.
	LockEventReleased LockEventKind = "released"
	// LockEventLost: a client that wanted to renew or to release was told that it has the lock
	// no more. A release without a token is none: so does who does not know whether anything was
	// granted.
	LockEventLost LockEventKind = "lost"
	// LockEventForced: somebody took a lock away from its holder.
	LockEventForced LockEventKind = "forced"
)

// LockEvent is one thing that happened to a lock.
type LockEvent struct {
	Kind LockEventKind
	Name string
	Wait time.Duration
	// Passed says of a grant that it ends no request that was asked: that one stood in the store's line, and was
	// refused.
	Passed bool
	Err    error
}

// nobody observes nothing.
type nobody struct{}

// Observe implements [LockObserver].
func (nobody) Observe(context.Context, LockEvent) {}

// guarded is an observer whose panics leave the answers as they are: the store has granted or
// renewed by then. After a call, where nobody else recovers, they would end the process.
type guarded struct {
	observer LockObserver
	log      *slog.Logger
}

// Observe implements [LockObserver].
func (g guarded) Observe(ctx context.Context, e LockEvent) {
	defer func() {
		if what := recover(); what != nil {
			g.log.ErrorContext(ctx, "server: the lock observer panicked",
				"event", e.Kind, "name", e.Name, "panic", what, "stack", string(debug.Stack()))
		}
	}()
	g.observer.Observe(ctx, e)
}

// observeRequest observes a request, from its coming to its answer.
func (l *locks) observeRequest(
	ctx context.Context, req driver.Request, take func(context.Context, driver.Request) (driver.Grant, error),
) (driver.Grant, error) {
	began := time.Now()
	l.observeAsked(ctx, req.Name)
	grant, err := take(ctx, req)
	l.observeOutcome(ctx, req.Name, began, err)
	return grant, err
}

func (l *locks) observeAsked(ctx context.Context, name string) {
	l.observer.Observe(ctx, LockEvent{Kind: LockEventAsked, Name: name})
}

// observeOutcome observes how a request ended that had come at that time.
func (l *locks) observeOutcome(ctx context.Context, name string, began time.Time, err error) {
	e := LockEvent{Kind: LockEventGranted, Name: name, Wait: time.Since(began), Err: err}
	if err != nil {
		e.Kind = LockEventRefused
	}
	l.observer.Observe(ctx, e)
}

// observeForced observes that a lock was taken away.
func (l *locks) observeForced(ctx context.Context, name string) {
	l.observer.Observe(ctx, LockEvent{Kind: LockEventForced, Name: name})
}

// observeRenewal observes an answer to a renewal, unless the outcome is not known. Only what was granted is renewed.
func (l *locks) observeRenewal(ctx context.Context, g *driver.Grant, err error) {
	switch {
	case err == nil:
		l.observer.Observe(ctx, LockEvent{Kind: LockEventRenewed, Name: g.Name})
	case errors.Is(err, driver.ErrLost):
		l.observeEnd(ctx, l.endings.hasGone(g, err))
	}
}

// releaseObserved gives a grant back to the store, and observes the answer, unless the outcome is not known.
func (l *locks) releaseObserved(ctx context.Context, g driver.Grant) (waiting int, err error) {
	fate := l.endings.beginRelease(&g)
	waiting, err = l.backend.Release(ctx, g)
	l.observeEnd(ctx, l.endings.endRelease(&g, fate, err))
	return waiting, err
}

// observeEnd observes the end of a grant, if there is one to tell.
func (l *locks) observeEnd(ctx context.Context, e *LockEvent) {
	if e != nil {
		l.observer.Observe(ctx, *e)
	}
}
