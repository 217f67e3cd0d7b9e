// Package keeper is what backends on databases have in common: each request of package driver is a decision of the
// ledger about the states of some names, in one step of a [Store].
package keeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// Step is one decision.
type Step struct {
	// Names are those it is about, in order and none twice.
	Names []string
	// ID is that of a call of a latch, whose answer it needs.
	ID string
	// Renews says that leases end if it takes long.
	Renews bool
	// Free leaves out, where the store can, the names whose rows somebody has: their states are nil.
	Free bool
	// Decide is called with the states of the names. It may be called again, with what they are by then: the last call
	// counts.
	Decide func(c *ledger.Clock, states []*ledger.State)
}

// Store is where states are kept. Its errors are in the classes of package driver. What it does it does within its
// context.
type Store interface {
	// Write decides with nobody else in between, and keeps what has changed. Then it tells those the states wake.
	Write(ctx context.Context, s *Step) error
	// Read decides by what was true at a moment of the call. Nothing of it is kept.
	Read(ctx context.Context, s *Step) error
	// Held returns at most n names that begin with a prefix and that somebody may have, after one, in order.
	Held(ctx context.Context, prefix, after string, n int) ([]string, error)
	// Client is what the store calls this process beside a grant.
	Client() string
	// Waiters is how many requests may wait for others at a time, and leave the store to those that need not.
	Waiters() int
}

// Backend is the part of a backend that is the same for all stores.
type Backend struct {
	// Store is where locks are kept, Label what errors begin with.
	Store Store
	Label string
	// ReadFirst has a lock that is held be refused by a reading step where that is enough.
	ReadFirst bool
}

var (
	_ driver.Inspector  = (*Backend)(nil)
	_ driver.Forcer     = (*Backend)(nil)
	_ driver.Bundler    = (*Backend)(nil)
	_ driver.Annotator  = (*Backend)(nil)
	_ driver.Downgrader = (*Backend)(nil)
	_ driver.Latches    = (*Backend)(nil)
)

// Describe says what has failed.
func (b *Backend) Describe(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, plain := errors.AsType[*driver.HeldError](err); plain {
		return err
	}
	return fmt.Errorf("%s: %s %q: %w", b.Label, operation, name, err)
}

// decideName makes one decision about a name. Who has left it behind is told nothing of what it still decides.
func decideName[T any](
	ctx context.Context, b *Backend, operation, name, id string, fn func(c *ledger.Clock, s *ledger.State) (T, error),
) (none T, err error) {
	var answer T
	var refusal error
	err = b.write(ctx, &Step{Names: []string{name}, ID: id, Decide: func(c *ledger.Clock, states []*ledger.State) {
		answer, refusal = fn(c, states[0])
	}})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return none, b.Describe(operation, name, err)
	}
	return answer, nil
}

// change makes one decision that has no answer.
func change(
	ctx context.Context, b *Backend, operation, name string, fn func(c *ledger.Clock, s *ledger.State) error,
) error {
	_, err := decideName(ctx, b, operation, name, "", func(c *ledger.Clock, s *ledger.State) (struct{}, error) {
		return struct{}{}, fn(c, s)
	})
	return err
}

// lookAt reads the state of a name.
func lookAt[T any](
	ctx context.Context, b *Backend, name string, fn func(c *ledger.Clock, s *ledger.State) (T, error),
) (none T, err error) {
	if err := ctx.Err(); err != nil {
		return none, Unavailable(err)
	}
	var answer T
	var refusal error
	err = b.Store.Read(ctx, &Step{Names: []string{name}, Decide: func(c *ledger.Clock, states []*ledger.State) {
		answer, refusal = fn(c, states[0])
	}})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return none, err
	}
	return answer, nil
}

// write makes one step, unless the context has ended before.
func (b *Backend) write(ctx context.Context, s *Step) error {
	if err := ctx.Err(); err != nil {
		return Unavailable(err)
	}
	return b.Store.Write(ctx, s)
}

// Unavailable says that nothing happened, and that trying again may help.
func Unavailable(err error) error {
	if err == nil || errors.Is(err, driver.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
}

// Acquire implements [driver.Backend].
func (b *Backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := driver.Refused(driver.CheckOwner(req.Owner)); err != nil {
		return driver.Grant{}, b.Describe("acquire", req.Name, err)
	}
	if err := b.refuseByReading(ctx, &req); err != nil {
		return driver.Grant{}, b.Describe("acquire", req.Name, err)
	}
	return decideName(ctx, b, "acquire", req.Name, "", func(c *ledger.Clock, s *ledger.State) (driver.Grant, error) {
		return s.Acquire(c, &req, b.Store.Client())
	})
}

// refuseByReading refuses a request if a look is enough for that. What a look cannot tell the store is asked for.
func (b *Backend) refuseByReading(ctx context.Context, req *driver.Request) error {
	if !b.ReadFirst || req.Mode != driver.Exclusive || req.Fair || req.IsVote() {
		return nil
	}
	_, err := lookAt(ctx, b, req.Name, func(c *ledger.Clock, s *ledger.State) (struct{}, error) {
		return struct{}{}, s.RefusesPlainly(c, req)
	})
	if errors.Is(err, driver.ErrHeld) || errors.Is(err, driver.ErrKind) {
		return err
	}
	return nil
}

// Release implements [driver.Backend]. How many others wait nobody knows.
func (b *Backend) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return 0, b.Describe("release", g.Name, err)
	}
	return 0, change(ctx, b, "release", g.Name, func(c *ledger.Clock, s *ledger.State) error {
		return s.Release(c, &g)
	})
}

// ForceRelease implements [driver.Forcer].
func (b *Backend) ForceRelease(ctx context.Context, name string) (was bool, err error) {
	return decideName(ctx, b, "force release of", name, "", func(c *ledger.Clock, s *ledger.State) (bool, error) {
		return s.Force(c)
	})
}

// Annotate implements [driver.Annotator].
func (b *Backend) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	if err := driver.Refused(driver.CheckMeta(meta)); err != nil {
		return b.Describe("annotate", g.Name, err)
	}
	return change(ctx, b, "annotate", g.Name, func(c *ledger.Clock, s *ledger.State) error {
		return s.Annotate(c, &g, meta)
	})
}

// Downgrade implements [driver.Downgrader].
func (b *Backend) Downgrade(ctx context.Context, g driver.Grant) error {
	if err := driver.Refused(driver.CheckDowngrade(&g)); err != nil {
		return b.Describe("downgrade", g.Name, err)
	}
	return change(ctx, b, "downgrade", g.Name, func(c *ledger.Clock, s *ledger.State) error {
		return s.Downgrade(c, &g)
	})
}
