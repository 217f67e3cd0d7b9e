package guard

import (
	"context"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Ticket is what a holder shows to a resource: which lock it has, and the token it was granted with.
type Ticket struct {
	Name  string
	Token uint64
}

// Of returns the ticket of a lease, or of none the zero one, which is refused everywhere. It stays the same when
// the lease is over: that is what it is for. Only tokens of mutexes, and of locks held to write, are higher than all
// before.
func Of(lease *lock.Lease) Ticket {
	if lease == nil {
		return Ticket{}
	}
	return Ticket{Name: lease.Name(), Token: lease.Token()}
}

// Check says by an [*input.Error] why a ticket cannot be one. Names and tokens have the limits of package driver.
//
// [*input.Error]: https://pkg.go.dev/github.com/bedrock-go/bedrock/input#Error
func (t Ticket) Check() error {
	if err := driver.CheckName(t.Name); err != nil {
		return err
	}
	return driver.CheckToken(t.Token)
}

// ticketKey finds what was put into a context.
type ticketKey struct{}

// carried is a ticket that was put into a context, or that it has none from there on.
type carried struct {
	ticket Ticket
	none   bool
	under  *lock.Lease // the innermost that the context carried then of the leases whose tokens rise
}

// ContextWithTicket returns a context that carries a ticket: to the transports of a client, which send it along,
// and to the handlers of a service, which find the one they were sent.
func ContextWithTicket(ctx context.Context, t Ticket) context.Context {
	return withCarried(ctx, carried{ticket: t})
}

// ContextWithoutTicket returns a context that carries no ticket, whatever ctx does: a request that came without one is
// not its server's, although its context may be made from that of a lease which the server has.
func ContextWithoutTicket(ctx context.Context) context.Context {
	return withCarried(ctx, carried{none: true})
}

func withCarried(ctx context.Context, c carried) context.Context {
	c.under, _ = lock.ExclusiveFrom(ctx)
	return context.WithValue(ctx, ticketKey{}, c)
}

// TicketFrom returns the ticket that a context carries: of those that were put there and those of the leases from
// whose contexts it is made, the innermost one. A lease that was taken with a context which carries a ticket, as a
// handler of a service may do, shows its own. Leases to read and permits show none: their tokens are in no order
// that a resource could go by.
func TicketFrom(ctx context.Context) (Ticket, bool) {
	lease, leased := lock.ExclusiveFrom(ctx)
	if c, ok := ctx.Value(ticketKey{}).(carried); ok && c.under == lease {
		return c.ticket, !c.none
	}
	return Of(lease), leased
}
