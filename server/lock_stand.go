package server

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// successorOf returns the store of locks again if it passes them on, and tells each of many clients by itself.
func successorOf(backend driver.Backend) driver.Successor {
	if _, ok := backend.(driver.Attender); !ok {
		return nil
	}
	s, _ := backend.(driver.Successor)
	return s
}

// mayStand reports whether a request can stand in the store's line: its client hears at this server, at this moment,
// what it is granted. A grant that is told to nobody would hold up all who wait for the lock.
func (l *locks) mayStand(req *driver.Request) (listener string, may bool) {
	if l.successor == nil || req.Fair || req.Mode != driver.Exclusive || req.IsVote() {
		return "", false
	}
	return l.attendants.listenerOf(req.Owner)
}

// standInLine makes one request that may stand in the store's line. If its caller has gone, nobody asks again, or
// releases what it may be granted.
func (l *locks) standInLine(ctx context.Context, req driver.Request, listener string) (driver.Grant, error) {
	grant, err := l.successor.Stand(ctx, req)
	held, refused := errors.AsType[*driver.HeldError](err)
	switch {
	case refused && held.Claim > 0 && ctx.Err() != nil:
		g := req.Ungranted()
		runAfterCall(ctx, func(ctx context.Context) { l.settler(l.backend).Settle(ctx, g, nil) })
	case refused && held.Claim > 0:
		l.standing.add(req.Name, listener, held.Claim)
	case err != nil:
		l.settleDoubt(ctx, &req, err)
	}
	return grant, err
}

// observePassed observes that a client was told of a grant, as the answer to its request said that it was refused.
func (l *locks) observePassed(ctx context.Context, g *driver.Grant, listener string) {
	if g.Tokens > 0 {
		l.observer.Observe(ctx, LockEvent{
			Kind: LockEventGranted, Name: g.Name, Wait: l.standing.waited(g.Name, listener), Passed: true,
		})
	}
}

// standings are the listeners at this server that stand in line, by name, and until when. Who releases the lock need
// not hold back for them: they have it in their order.
type standings struct {
	mu     sync.Mutex
	byName map[string]map[string]standing // and listener
	count  int                            // of all of them
	full   int                            // how many there may be before those that are over are looked for
}

// standing is the time for which a listener stands.
type standing struct{ since, until time.Time }

// fewStandings is how many are kept without looking for such.
const fewStandings = 1024

// add enters that a listener stands. Who has no name for itself is counted as waiting.
func (s *standings) add(name, listener string, claim time.Duration) {
	if listener == "" {
		return
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	one, stands := s.byName[name][listener]
	if !stands {
		s.makeRoom(now)
		s.count++
	}
	if s.byName[name] == nil {
		s.byName[name] = make(map[string]standing, 1)
	}
	if !stands || now.After(one.until) {
		one.since = now
	}
	one.until = now.Add(claim)
	s.byName[name][listener] = one
}

// makeRoom forgets those whose claims have run out. s.mu is held.
func (s *standings) makeRoom(now time.Time) {
	if s.byName == nil {
		s.byName, s.full = make(map[string]map[string]standing), fewStandings
	}
	if s.count < s.full {
		return
	}
	s.count = 0
	maps.DeleteFunc(s.byName, func(_ string, all map[string]standing) bool {
		maps.DeleteFunc(all, func(_ string, one standing) bool { return now.After(one.until) })
		s.count += len(all)
		return len(all) == 0
	})
	s.full = 2*s.count + fewStandings
}

// remove enters that a listener does not stand any more: it gives back what it has, or might have had.
func (s *standings) remove(name, listener string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, stands := s.byName[name][listener]; stands {
		s.count--
	}
	delete(s.byName[name], listener)
	if len(s.byName[name]) == 0 {
		delete(s.byName, name)
	}
}

// stands reports whether a listener stands.
func (s *standings) stands(name, listener string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.byName[name][listener].until)
}

// waited returns for how long a listener has stood that was granted the lock, and ends that.
func (s *standings) waited(name, listener string) time.Duration {
	s.mu.Lock()
	one, stood := s.byName[name][listener]
	s.mu.Unlock()
	if !stood {
		return 0
	}
	s.remove(name, listener)
	return time.Since(one.since)
}
