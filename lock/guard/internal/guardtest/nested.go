package guardtest

import (
	"context"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
)

// InnermostTicketIsShown checks which of several tickets a call shows whose context carries them, one in the other.
// shown makes one to a service that lets calls without a ticket through, and returns the name of the lock it shows.
// The leases are of locks, which it stops.
func InnermostTicketIsShown(
	t *testing.T, locks *lock.Client, shown func(ctx context.Context) (name string, err error),
) {
	t.Helper()
	defer func() { _ = locks.Stop(context.WithoutCancel(t.Context())) }()
	type layer = func(context.Context) context.Context
	lease := func(name string) layer {
		return func(ctx context.Context) context.Context {
			l, err := locks.Mutex(name, nil).Lock(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return l.Context()
		}
	}
	ticket := func(name string) layer {
		return func(ctx context.Context) context.Context {
			return guard.ContextWithTicket(ctx, guard.Ticket{Name: name, Token: 1})
		}
	}
	for _, c := range []struct {
		nested []layer // the outermost first
		want   string
	}{
		{want: ""},
		{[]layer{ticket("a"), lease("b")}, "b"},
		{[]layer{lease("c"), ticket("d")}, "d"},
		{[]layer{lease("e"), lease("f")}, "f"},
		{[]layer{ticket("g"), lease("h"), ticket("i"), lease("j")}, "j"},
		{[]layer{lease("k"), guard.ContextWithoutTicket}, ""},
		{[]layer{ticket("l"), guard.ContextWithoutTicket}, ""},
		{[]layer{lease("m"), guard.ContextWithoutTicket, lease("n")}, "n"},
		{[]layer{lease("o"), guard.ContextWithoutTicket, ticket("p")}, "p"},
	} {
		ctx := t.Context()
		for _, put := range c.nested {
			ctx = put(ctx) //nolint:fatcontext // one in the other is what is tested
		}
		if name, err := shown(ctx); err != nil || name != c.want {
			t.Errorf("shown is the ticket of %q, %v; want that of %q", name, err, c.want)
		}
	}
}
