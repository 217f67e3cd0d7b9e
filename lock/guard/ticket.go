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
// the lease is over: that is what it is for.
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

type ticketKey struct{}

// ContextWithTicket returns a context that carries a ticket: to the transports of a client, which send it along,
// and to the handlers of a service, which find the one they were sent.
func ContextWithTicket(ctx context.Context, t Ticket) context.Context {
	return context.WithValue(ctx, ticketKey{}, t)
}

// TicketFrom returns the ticket that a context carries: one that was put there, else that of the innermost lease
// from whose context it is made.
func TicketFrom(ctx context.Context) (Ticket, bool) {
	if t, ok := ctx.Value(ticketKey{}).(Ticket); ok {
		return t, true
	}
	lease, ok := lock.LeaseFrom(ctx)
	return Of(lease), ok
}
