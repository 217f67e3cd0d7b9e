package several

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// identities are who the nodes say they are. One store that is there under two addresses would have two votes.
type identities struct {
	mu     sync.Mutex
	asking chan struct{} // closed when all have answered, or failed to; nil before anybody has asked
	of     map[*Node]identity
	twice  error // two of them are one
}

// identity is what a node has said, and when.
type identity struct {
	who string
	at  time.Duration
}

// Distinct makes certain that no two nodes are one store, before any is asked for a vote: the first time it asks all of
// them.
func (s *Stores) Distinct(ctx context.Context) error {
	i := &s.identities
	i.mu.Lock()
	if i.asking == nil {
		asking := make(chan struct{})
		i.asking = asking
		Gather(s, s.Nodes, func() { close(asking) }, func(ctx context.Context, n *Node) error {
			err := s.identify(ctx, n)
			n.Heard(err)
			return err
		})
	}
	asking := i.asking
	i.mu.Unlock()
	if err := s.awaitIdentities(ctx, asking); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.twice
}

// longestIntroduction is how long the nodes' identities are waited for: those that are slow say it before they vote.
const longestIntroduction = 50 * time.Millisecond

func (s *Stores) awaitIdentities(ctx context.Context, asking <-chan struct{}) error {
	select {
	case <-asking:
		return nil
	default:
	}
	slow := time.NewTimer(max(longestIntroduction, s.rules.Listen))
	defer slow.Stop()
	caller, limit := timelimit.Ends(ctx)
	select {
	case <-asking:
	case <-slow.C:
	case <-caller:
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	case <-limit:
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	}
	return nil
}

// identify asks a node who it is. One that does not answer is asked again before its vote counts.
func (s *Stores) identify(ctx context.Context, n *Node) error {
	if n.introduced.Load() {
		return nil
	}
	return s.identifyAnew(ctx, n)
}

// identifyAnew asks a node who it is, whether it has said so before or not: it may have been started again since. When
// one comes later than others those are asked anew, too.
func (s *Stores) identifyAnew(ctx context.Context, n *Node) error {
	who, err := identityOf(ctx, n)
	if err == nil && !n.introduced.Load() {
		s.refreshIdentities(ctx, n)
	}
	i := &s.identities
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case errors.Is(err, driver.ErrRefused): // nobody can tell
		n.introduced.Store(true)
		return nil
	case err != nil:
		return err
	default:
		return i.recordIdentity(s, n, who)
	}
}

// refreshIdentities asks those who are they that have said so a while ago: each may be the newcomer, under another name
// than before.
func (s *Stores) refreshIdentities(ctx context.Context, newcomer *Node) {
	var group sync.WaitGroup
	i := &s.identities
	for _, n := range s.Nodes {
		i.mu.Lock()
		before, known := i.of[n]
		i.mu.Unlock()
		if n == newcomer || !known || s.Now()-before.at < identityKept || n.IsAway() {
			continue
		}
		group.Go(func() {
			if who, err := identityOf(ctx, n); err == nil {
				i.mu.Lock()
				defer i.mu.Unlock()
				_ = i.recordIdentity(s, n, who) // it is told below, or with the next request
			}
		})
	}
	group.Wait()
}

// identityKept is for how long nobody is asked again.
const identityKept = time.Second

// recordIdentity records who a node is, and refuses it if that is another one, too. i.mu is held.
func (i *identities) recordIdentity(s *Stores, n *Node, who string) error {
	for other, known := range i.of {
		if other != n && known.who == who {
			i.twice = &TwiceError{One: other.Number(), Other: n.Number(), Identity: who}
			return i.twice
		}
	}
	i.of[n] = identity{who, s.Now()}
	n.introduced.Store(true)
	return nil
}

func identityOf(ctx context.Context, n *Node) (string, error) {
	identifier, ok := n.Backend.(driver.Identifier)
	if !ok {
		return "", driver.ErrUnsupported
	}
	who, err := identifier.Identity(ctx)
	if err == nil && who == "" {
		err = driver.ErrUnsupported
	}
	return driver.StoreOf(who), err // two places in one store fail together
}

// TwiceError says that two nodes are one store. It is a refusal.
type TwiceError struct {
	One, Other int    // the nodes, the first is 1
	Identity   string // what both say of themselves
}

// Error implements error.
func (e *TwiceError) Error() string {
	one, other := min(e.One, e.Other), max(e.One, e.Other)
	return fmt.Sprintf("nodes %d and %d are one store, %s: each must be another", one, other, e.Identity)
}

// Is reports whether target is [driver.ErrRefused].
func (e *TwiceError) Is(target error) bool { return target == driver.ErrRefused }
