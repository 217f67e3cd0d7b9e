package guard_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTokensAreMixedUp: lower is refused, equal is accepted, higher is remembered, for each name by itself.
func TestTokensAreMixedUp(t *testing.T) {
	m := guard.NewMemory(nil)
	for _, step := range []struct {
		name          string
		token, newest uint64
	}{
		{"a", 5, 0},
		{"a", 5, 0},
		{"a", 4, 5},
		{"b", 1, 0},
		{"a", 7, 0},
		{"a", 6, 7},
		{"a", 7, 0},
		{"A", 1, 0},
		{"a", driver.MaxToken, 0},
		{"a", driver.MaxToken - 1, driver.MaxToken},
		{strings.Repeat("é", driver.MaxName/2), 1, 0},
	} {
		err := m.Announce(t.Context(), guard.Ticket{Name: step.name, Token: step.token})
		stale, refused := errors.AsType[*guard.StaleError](err)
		if refused != (step.newest > 0) || !refused && err != nil || errors.Is(err, guard.ErrStale) != refused {
			t.Errorf("%+v: %v", step, err)
		}
		if refused && *stale != (guard.StaleError{Name: step.name, Token: step.token, Newest: step.newest}) {
			t.Errorf("%+v: %+v", step, stale)
		}
	}
}

// TestNobodyComesBetweenCheckAndWork: who is newer waits until the work of the one before is done.
func TestNobodyComesBetweenCheckAndWork(t *testing.T) {
	m := guard.NewMemory(nil)
	err := m.Do(t.Context(), guard.Ticket{Name: "a", Token: 1}, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := m.Announce(ctx, guard.Ticket{Name: "a", Token: 2})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a newer one came between: %v", err)
		}
		return m.Announce(t.Context(), guard.Ticket{Name: "b", Token: 2}) // which is something else
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMemoryRace(t *testing.T) {
	m := guard.NewMemory(nil)
	var entries []uint64 // guarded by m
	guardtest.Contest{
		Announce: m.Announce,
		Append: func(ctx context.Context, ticket guard.Ticket) error {
			return m.Do(ctx, ticket, func() error { entries = append(entries, ticket.Token); return nil })
		},
		Repeatable: func(error) bool { return false },
		Entries:    func(*testing.T) []uint64 { return entries },
	}.Run(t)
}

func TestWrongTicketsAreRefused(t *testing.T) {
	const most = "9223372036854775807"
	for want, ticket := range map[string]guard.Ticket{
		"name: is empty": guard.Of(nil),
		"name: is 513 bytes long, the limit is 512":               {Name: strings.Repeat("x", 513), Token: 1},
		"name: \"a\\x00\" has a control character at byte 1":      {Name: "a\x00", Token: 1},
		"token: is 0, allowed are 1 to " + most:                   {Name: "a"},
		"token: is 9223372036854775808, allowed are 1 to " + most: {Name: "a", Token: driver.MaxToken + 1},
	} {
		err := guard.NewMemory(nil).Announce(t.Context(), ticket)
		if !errors.Is(err, input.ErrInvalid) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestContextsAreHeeded: nothing is remembered for a caller who has gone.
func TestContextsAreHeeded(t *testing.T) {
	m := guard.NewMemory(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Announce(ctx, guard.Ticket{Name: "a", Token: 9}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := m.Announce(t.Context(), guard.Ticket{Name: "a", Token: 1}); err != nil {
		t.Error(err)
	}
}

// TestTicketOfALease: it is found in the lease's context, and stays when the lease is over.
func TestTicketOfALease(t *testing.T) {
	locks, err := memlock.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locks.Stop(context.WithoutCancel(t.Context())) }()
	lease, err := locks.Mutex("a", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(lease.Context())
	_ = lease.Unlock(t.Context())
	ticket, ok := guard.TicketFrom(ctx)
	if !ok || ticket != guard.Of(lease) || ticket.Name != "a" || ticket.Token != lease.Token() {
		t.Errorf("%+v, %v", ticket, ok)
	}
	other := guard.Ticket{Name: "b", Token: 1}
	if got, ok := guard.TicketFrom(guard.ContextWithTicket(ctx, other)); !ok || got != other {
		t.Errorf("%+v, %v", got, ok)
	}
	if got, ok := guard.TicketFrom(t.Context()); ok || got != (guard.Ticket{}) {
		t.Errorf("%+v, %v", got, ok)
	}
}

// TestTicketsWithoutOrder: readers who hold a lock together, and permits, have tokens by which nobody could be refused.
// The mutex around them is shown.
func TestTicketsWithoutOrder(t *testing.T) {
	locks, err := memlock.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locks.Stop(context.WithoutCancel(t.Context())) }()
	inside := func(ctx context.Context, l lock.Lockable) *lock.Lease {
		lease, err := l.Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	rw, permits := locks.RWMutex("rw", nil), locks.Semaphore("permits", 2, nil)
	for name, l := range map[string]lock.Lockable{"reader": rw.Reader(), "permit": permits} {
		lease := inside(t.Context(), l)
		if ticket, ok := guard.TicketFrom(lease.Context()); ok {
			t.Errorf("a %s shows %+v", name, ticket)
		}
		_ = lease.Unlock(t.Context())
	}
	outer := inside(t.Context(), locks.Mutex("outer", nil))
	reader := inside(outer.Context(), rw.Reader())
	permit := inside(reader.Context(), permits)
	if ticket, ok := guard.TicketFrom(permit.Context()); !ok || ticket != guard.Of(outer) {
		t.Errorf("%+v, %v", ticket, ok)
	}
	other := guard.Ticket{Name: "other", Token: 1}
	if ticket, ok := guard.TicketFrom(guard.ContextWithTicket(permit.Context(), other)); !ok || ticket != other {
		t.Errorf("%+v, %v", ticket, ok)
	}
	sent := inside(guard.ContextWithTicket(outer.Context(), other), permits)
	if ticket, ok := guard.TicketFrom(sent.Context()); !ok || ticket != other {
		t.Errorf("%+v, %v", ticket, ok)
	}
	writer := inside(permit.Context(), locks.RWMutex("other", nil).Writer())
	if ticket, ok := guard.TicketFrom(writer.Context()); !ok || ticket != guard.Of(writer) {
		t.Errorf("%+v, %v", ticket, ok)
	}
}

type panics struct{ events []lock.Event }

func (p *panics) Observe(_ context.Context, e lock.Event) {
	p.events = append(p.events, e)
	panic("observer")
}

// TestRefusalsAreTold: once each, also to an observer that panics.
func TestRefusalsAreTold(t *testing.T) {
	o := &panics{}
	m := guard.NewMemory(&guard.Options{Observer: o})
	for _, token := range []uint64{2, 1, 2, 0} {
		_ = m.Announce(t.Context(), guard.Ticket{Name: "a", Token: token})
	}
	if len(o.events) != 1 {
		t.Fatalf("%+v", o.events)
	}
	e := o.events[0]
	if e.Kind != lock.EventRefused || e.Name != "a" || e.Token != 1 || !errors.Is(e.Err, guard.ErrStale) {
		t.Errorf("%+v", e)
	}
}
