package guardtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/lock/guard"
)

// Contest is a resource that many holders write to at once, as if each had a lock that the others have, too.
type Contest struct {
	// Announce tells the resource of a ticket, in a step of its own.
	Announce func(ctx context.Context, t guard.Ticket) error
	// Append checks the ticket, reads how many entries the resource has, and adds one with the next number
	// and the token, all in one step.
	Append func(ctx context.Context, t guard.Ticket) error
	// Repeatable reports whether an error of Append means that nothing has happened, and the step may be repeated.
	Repeatable func(err error) bool
	// Entries are the tokens of all entries, in the order of their numbers.
	Entries func(t *testing.T) []uint64
}

const (
	writers       = 6
	ticketsOfEach = 25
)

// race is a contest under way.
type race struct {
	Contest

	t        *testing.T
	name     string
	tokens   atomic.Uint64 // the last one given out
	accepted atomic.Uint64 // the highest one that the resource has taken
	written  atomic.Int64
	stale    atomic.Int64
}

// Run has the contest, and checks that no token was written after a higher one, and that no write was lost.
func (c Contest) Run(t *testing.T) {
	t.Helper()
	r := &race{Contest: c, t: t, name: t.Name()}
	var group sync.WaitGroup
	for range writers {
		group.Go(r.write)
	}
	group.Wait()
	entries := c.Entries(t)
	if len(entries) != int(r.written.Load()) {
		t.Errorf("%d entries, %d were written", len(entries), r.written.Load())
	}
	for i := 1; i < len(entries); i++ {
		if entries[i] < entries[i-1] {
			t.Errorf("entry %d is of token %d, the one before of %d", i+1, entries[i], entries[i-1])
		}
	}
	if r.stale.Load() == 0 || r.written.Load() < writers {
		t.Errorf("%d refusals and %d writes are no contest", r.stale.Load(), r.written.Load())
	}
	t.Logf("%d writes, %d refusals", r.written.Load(), r.stale.Load())
}

// write is one writer, with one ticket after another. It goes on with each until it is refused, or three times.
func (r *race) write() {
	var old guard.Ticket
	for range ticketsOfEach {
		ticket := guard.Ticket{Name: r.name, Token: r.tokens.Add(1)}
		fresh := rand.N(2) == 0 || r.accepts(ticket, r.Announce)
		for n := 0; fresh && n < 3; n++ {
			fresh = r.appends(ticket)
		}
		if old.Token > 0 {
			r.appends(old) // as who was paused
		}
		old = ticket
	}
}

// appends reports whether an entry was added.
func (r *race) appends(ticket guard.Ticket) bool {
	done := r.accepts(ticket, r.Append)
	if done {
		r.written.Add(1)
	}
	return done
}

// accepts reports whether the resource took a ticket. It may not if it had taken a higher one before.
func (r *race) accepts(ticket guard.Ticket, do func(context.Context, guard.Ticket) error) bool {
	before := r.accepted.Load()
	err := do(r.t.Context(), ticket)
	for err != nil && !errors.Is(err, guard.ErrStale) && r.Repeatable(err) {
		err = do(r.t.Context(), ticket)
	}
	switch {
	case err == nil && ticket.Token < before:
		r.t.Errorf("token %d was taken after %d", ticket.Token, before)
	case errors.Is(err, guard.ErrStale):
		r.stale.Add(1)
		return false
	case err != nil:
		r.t.Error(err)
		return false
	}
	for {
		highest := r.accepted.Load()
		if ticket.Token <= highest || r.accepted.CompareAndSwap(highest, ticket.Token) {
			return true
		}
	}
}
