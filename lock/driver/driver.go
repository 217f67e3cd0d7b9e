package driver

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/input"
)

// Backend is a store that grants leases on names. Implementations are safe for
// concurrent use.
type Backend interface {
	// Acquire tries once to take req.Name for req.Owner.
	//
	// It is idempotent by owner: when the store already holds a grant of this
	// owner, Acquire reports that grant, if need be with fewer of its tokens,
	// and its TTL runs anew. Tokens of one name rise strictly from grant to
	// grant, whatever the store has forgotten in between. A refusal is a
	// [*HeldError].
	Acquire(ctx context.Context, req Request) (Grant, error)

	// Renew sets the time left of every grant to its TTL again, and never
	// creates what is gone. When that shortens the time left, who listens is
	// woken as by a release: they were told the longer one, and sleep. The result
	// has one entry per grant: nil, [ErrLost] when the store no longer has it, or
	// another error when it is unknown.
	Renew(ctx context.Context, grants []Grant) []error

	// Release gives the grant back. It is idempotent: repeating a release that
	// took effect is a success. A grant the store does not have (any more) is
	// [ErrLost]; nothing is changed then.
	//
	// Release reports how many other contenders the store believes to be
	// waiting for the name, 0 when it cannot tell.
	Release(ctx context.Context, g Grant) (waiting int, err error)

	// Close frees what the backend made for itself. It leaves grants and the
	// client it was given alone.
	Close() error
}

// Grant is a lease the store has given.
type Grant struct {
	// These are those of the request.
	Name        string
	Owner       string
	Mode        Mode
	Upgradeable bool
	Permits     int
	TTL         time.Duration
	// Token is the first fencing token reserved, Tokens how many there are.
	Token  uint64
	Tokens int
	// Recalled says that who has it is told when somebody else is refused: see [Notifier].
	Recalled bool
	// Handle belongs to the backend.
	Handle any
}

// Check says by an [*input.Error] what can be no grant, to whoever gets grants back from the
// network. A renewal has a time, too: see [CheckRest].
func (g *Grant) Check() error {
	if err := CheckName(g.Name); err != nil {
		return err
	}
	switch {
	case g.Mode == Permit && (g.Permits < 1 || g.Permits > MaxPermits):
		return outOfRange("permits", g.Permits, 1, MaxPermits)
	case g.Mode != Permit && g.Permits != 0:
		return &input.Error{Field: "permits", Problem: "are for mode permit, not " + g.Mode.String()}
	case g.Mode != Shared && g.Upgradeable:
		return &input.Error{Field: "upgradeable", Problem: "is for mode shared, not " + g.Mode.String()}
	}
	return CheckOwner(g.Owner)
}
