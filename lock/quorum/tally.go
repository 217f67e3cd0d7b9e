package quorum

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/internal/several"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// ErrNoQuorum says that too few nodes could be asked. The error is an [*Error].
var ErrNoQuorum = errors.New("no quorum")

// Error says why a lock could not be granted, although nobody has it: too few nodes have a vote now.
type Error struct {
	// Granted is how many have given their votes, Need how many it takes, of Nodes.
	Granted, Need, Nodes int
	// Errs are why the others have not.
	Errs []error

	unsure bool
}

// Error implements error.
func (e *Error) Error() string {
	why := make([]string, len(e.Errs))
	for i, err := range e.Errs {
		why[i] = err.Error()
	}
	slices.Sort(why)
	return fmt.Sprintf("no quorum: %d of %d nodes have granted it, %d are needed: %s",
		e.Granted, e.Nodes, e.Need, strings.Join(why, "; "))
}

// Is reports whether target is [ErrNoQuorum]; or [driver.ErrUnavailable], unless a node may have done what it was
// asked for.
func (e *Error) Is(target error) bool {
	return target == ErrNoQuorum || target == driver.ErrUnavailable && !e.unsure
}

// tally counts votes.
type tally struct {
	need, nodes, pending int

	grants  []driver.Grant
	by      []*several.Node // who has given each of them
	kept    int             // how many had given it before, and have not forgotten
	held    []*driver.HeldError
	heldBy  []*several.Node // who has refused each time
	refused error           // of a node that says no, and will say no again
	errs    []error         // of those that cannot say
	unsure  bool            // one of them may have given its vote
}

func (t *tally) add(n *several.Node, v vote) {
	t.pending--
	if v.err == nil {
		t.grants, t.by = append(t.grants, v.grant), append(t.by, n)
		if v.kept {
			t.kept++
		}
		return
	}
	if held, ok := errors.AsType[*driver.HeldError](v.err); ok {
		t.held, t.heldBy = append(t.held, held), append(t.heldBy, n)
		return
	}
	err := fmt.Errorf("node %d: %w", n.Number(), v.err)
	if errors.Is(v.err, driver.ErrYoung) {
		err = fmt.Errorf("node %d: %w: see Quarantine", n.Number(), driver.ErrYoung)
	}
	if errors.Is(v.err, driver.ErrRefused) {
		t.refused = err
		return
	}
	t.errs = append(t.errs, err)
	t.unsure = t.unsure || !settle.NothingHappened(v.err)
}

// dropVotes takes back the votes of nodes that are asked anew.
func (t *tally) dropVotes(nodes []*several.Node) {
	for _, n := range nodes {
		i := slices.Index(t.by, n)
		t.grants, t.by = slices.Delete(t.grants, i, i+1), slices.Delete(t.by, i, i+1)
	}
}

// isOpen reports whether it depends on answers still to come who wins.
func (t *tally) isOpen() bool {
	return len(t.grants) < t.need && len(t.grants)+t.pending >= t.need
}

func (t *tally) won() bool { return len(t.grants) >= t.need }

// mayGoOn reports whether to ask again under the same owner: nobody else has the lock, and it is not known what some
// nodes have done.
func (t *tally) mayGoOn() bool { return t.unsure && t.refused == nil && !t.isHeld() }

// isHeld reports whether it is others who keep the lock from being granted, and not nodes that fail.
func (t *tally) isHeld() bool { return len(t.held) > 0 && len(t.grants)+len(t.held) >= t.need }

// mayBeHeld reports whether it depends on answers still to come whether it is others who keep the lock from being
// granted.
func (t *tally) mayBeHeld() bool {
	return len(t.held) > 0 && !t.isHeld() && len(t.grants)+len(t.held)+t.pending >= t.need
}

// failure says why the lock was not granted.
func (t *tally) failure(keep int) error {
	switch {
	case t.isHeld():
		return t.refusal(keep)
	case t.refused != nil:
		return t.refused
	default:
		return &Error{Granted: len(t.grants), Need: t.need, Nodes: t.nodes, Errs: t.reasons(), unsure: t.unsure}
	}
}

func (t *tally) reasons() []error {
	errs := t.errs
	for _, h := range t.held {
		errs = append(errs, errors.New(h.Error())) // it is no refusal of the whole
	}
	return errs
}

// refusal tells who has the lock, and until when so many nodes are free that it can be had.
func (t *tally) refusal(keep int) *driver.HeldError {
	holder, votes := t.holder()
	if votes < keep {
		return &driver.HeldError{Owner: holder, TTL: splitPause()}
	}
	lives := make([]time.Duration, 0, len(t.held))
	for _, h := range t.held {
		if h.TTL != driver.UnknownTTL {
			lives = append(lives, h.TTL)
		}
	}
	slices.Sort(lives)
	if wanted := t.need - len(t.grants); wanted <= len(lives) {
		return &driver.HeldError{Owner: holder, TTL: lives[wanted-1]}
	}
	return &driver.HeldError{Owner: holder, TTL: driver.UnknownTTL}
}

// splitPause is after how long to ask again when several have some votes, and nobody enough.
func splitPause() time.Duration { return 2*time.Millisecond + rand.N(8*time.Millisecond) }

// holder returns who has most of the other votes, and how many.
func (t *tally) holder() (owner string, votes int) {
	counts := make(map[string]int)
	for _, h := range t.held {
		public := driver.AsPublicOwner(h.Owner) // as some nodes tell it
		counts[public]++
		if n := counts[public]; n > votes {
			owner, votes = h.Owner, n
		}
	}
	return owner, votes
}
