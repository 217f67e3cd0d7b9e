package several

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Rules are what kinds of such locks differ in.
type Rules struct {
	// Keep is how many votes keep everybody else out, and Need how many it takes to be granted a lock.
	Keep, Need int
	// Limit is the longest that a call of a node may take.
	Limit time.Duration
	// Retry is for how long a node that has not answered is left alone.
	Retry time.Duration
	// OnlyPresent says that nodes which do not answer have no say in what becomes of a grant.
	OnlyPresent bool
	// OnlyPings says that a node which has not answered is back after a [Node.Ping] only: that it has come to
	// something in the background does not make it quick.
	OnlyPings bool
	// Listen is how long nodes are waited for that are slow to begin to tell of releases, or to say who they are, where
	// each of them matters; 0 where as many as keep others out are enough.
	Listen time.Duration
	// TakenAtOnce says that a grant is over when any node has told that it was taken away there by force.
	TakenAtOnce bool
	// Yield is for how long a grant may meet the same other owner at a node before all of its own, 0 for ever: it is
	// over then.
	Yield time.Duration
	// Complete reports whether it is worth asking when those nodes have told of a release, at once or a little
	// later. If all nodes were asked before, the others have refused it but for so many; else refused is nil.
	Complete func(told, refused []bool, granted int) (now, soon bool)
}

// Stores are the stores of a lock.
type Stores struct {
	Nodes []*Node
	// Now is the clock of leases.
	Now func() time.Duration
	// Limit bounds calls that outlive their callers.
	Limit *timelimit.Shared

	rules      Rules
	tokens     tokenClock
	identities identities
	tell       func(driver.Message) // nil until somebody wants to be told
	attendants attendants

	mu      sync.Mutex
	ballots map[string]*Ballot // by owner: those with votes, or that may have some
	full    int                // how many there may be before those that have run out are looked for
	watched map[string]*Watched

	background context.Context //nolint:containedctx // of what goes on when a caller has gone
	stop       context.CancelFunc
	work       work
}

// New returns the stores behind those backends, which it owns from then on.
func New(backends []driver.Backend, rules Rules) (*Stores, error) {
	s := &Stores{
		Now: bootclock.Now, rules: rules,
		ballots: make(map[string]*Ballot), watched: make(map[string]*Watched),
	}
	s.identities.of = make(map[*Node]identity)
	seen := make(map[driver.Backend]int, len(backends))
	for i, b := range backends {
		if b == nil {
			return nil, input.Errorf("nodes", "number %d is nil", i+1)
		}
		if err := checkVoter(i+1, b); err != nil {
			return nil, err
		}
		if reflect.TypeOf(b).Comparable() {
			if before, twice := seen[b]; twice {
				return nil, input.Errorf("nodes", "number %d is number %d once more", i+1, before+1)
			}
			seen[b] = i
		}
		s.Nodes = append(s.Nodes, &Node{Backend: b, index: i, stores: s})
	}
	if s.Virtual() {
		s.Now = backends[0].(driver.Timekeeper).Now
	}
	s.background, s.stop = context.WithCancel(context.Background())
	s.Limit = timelimit.NewShared(s.background, rules.Limit)
	return s, nil
}

// Within returns the limit of calls that may take so long.
func (s *Stores) Within(d time.Duration) *timelimit.Shared {
	return timelimit.NewShared(s.background, d)
}

// Background does something that outlives its caller, but not the stores.
func (s *Stores) Background(do func()) { s.work.Go(do) }

// Virtual reports whether all stores live in this process, and so stop when it stops: see [driver.Timekeeper].
func (s *Stores) Virtual() bool {
	for _, n := range s.Nodes {
		if _, own := n.Backend.(driver.Timekeeper); !own {
			return false
		}
	}
	return true
}

// Close ends what goes on in the background, and the nodes.
func (s *Stores) Close() error {
	s.finishWork()
	var errs []error
	for _, n := range s.Nodes {
		errs = append(errs, n.Backend.Close())
	}
	return errors.Join(errs...)
}

// lastChance is how long what goes on in the background may take when the stores are closed: a vote that is not given
// back stays for its TTL.
const lastChance = 150 * time.Millisecond

// finishWork waits for what goes on in the background, and breaks it off if it takes long.
func (s *Stores) finishWork() {
	if idle := s.work.whenIdle(); idle != nil {
		enough := time.NewTimer(lastChance)
		defer enough.Stop()
		select {
		case <-idle:
		case <-enough.C:
		}
	}
	s.stop()
	if idle := s.work.close(); idle != nil {
		<-idle
	}
}

// ballotOf returns the ballot of an owner; nil if it has nothing anywhere, as far as is known here.
func (s *Stores) ballotOf(owner string) *Ballot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ballots[owner]
}

// Open returns the ballot of a request's owner: the one there is, or a new one.
func (s *Stores) Open(req *driver.Request) *Ballot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.ballots[req.Owner]; b != nil {
		b.prolong(req.TTL)
		return b
	}
	b := s.enterBallot(req.Ungranted(), none)
	b.meta = req.Meta
	return b
}

// inForce returns the ballot of a grant that is renewed. One that is given back meanwhile stays so.
func (s *Stores) inForce(g *driver.Grant) *Ballot {
	if b := s.ballotOf(g.Owner); b != nil {
		return b
	}
	return s.Of(g)
}

// Of returns the ballot of a grant. Of one that nothing is known of here there may be a vote anywhere.
func (s *Stores) Of(g *driver.Grant) *Ballot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.ballots[g.Owner]; b != nil && !b.isOver() {
		return b
	}
	asked := *g
	asked.Handle = nil
	return s.enterBallot(asked, unsure)
}

// enterBallot makes a ballot. s.mu is held.
func (s *Stores) enterBallot(g driver.Grant, all state) *Ballot {
	now := s.Now()
	if len(s.ballots) >= s.full {
		maps.DeleteFunc(s.ballots, func(_ string, b *Ballot) bool { return b.hasRunOut(now) })
		s.full = 2*len(s.ballots) + 16
	}
	b := &Ballot{stores: s, grant: g, votes: make([]vote, len(s.Nodes)), until: now + g.TTL, life: g.TTL}
	for i := range b.votes {
		b.votes[i].state = all
	}
	s.ballots[g.Owner] = b
	return b
}

// Forget drops a ballot without votes.
func (s *Stores) Forget(b *Ballot) {
	if !b.HasVotes() {
		s.forgetBallot(b)
	}
}

// forgetBallot drops a ballot that has no votes any more.
func (s *Stores) forgetBallot(b *Ballot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ballots[b.grant.Owner] == b {
		delete(s.ballots, b.grant.Owner)
	}
}
