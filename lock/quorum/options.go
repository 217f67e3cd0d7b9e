package quorum

import (
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
)

// The limits of options.
const (
	MinNodes = 3
	MaxNodes = 64
)

// defaultTTL is that of package lock.
const defaultTTL = 30 * time.Second

// Options configure a client of several stores. The zero value and nil mean the defaults.
type Options struct {
	// Lock are the options that do not depend on the stores.
	Lock lock.Options
	// Majority is how many votes a lock needs: more than half of all. Defaults to the least that is; of an even
	// number of nodes it has to be said, for one more node than that would be of more use.
	Majority int
	// Surplus is how many of the nodes that have granted a lock may forget it, or mistake the time, before somebody
	// else can have it. It must be there when the lock is granted; it may shrink later, see [lock.Lease.Spread].
	// Defaults to 0: with five nodes, three votes are enough, and if one of these three forgets, two may have the lock.
	Surplus int
	// Quarantine is how long a node that was started has no vote, for it may have forgotten whom it had given it.
	// It must be no shorter than the longest TTL that anybody uses with these nodes: one that is shorter than the TTL
	// of Lock is refused, and for a single lock with a longer TTL it is that TTL. Defaults to the TTL of Lock, 30 s
	// unless that says otherwise. -1 is for nodes that forget nothing, whatever happens to them, as Redis with
	// appendfsync always.
	Quarantine time.Duration
}

// settings are options with every default filled in.
type settings struct {
	Options

	keep int // how many votes keep everybody else out
	need int // and how many it takes to be granted a lock
}

func (o *Options) withDefaults(nodes int) (settings, error) {
	var s settings
	if o != nil {
		s.Options = *o
	}
	if s.Majority == 0 && nodes%2 == 1 {
		s.Majority = nodes/2 + 1
	}
	if err := s.checkFor(nodes); err != nil {
		return s, err
	}
	if s.Lock.TTL == 0 {
		s.Lock.TTL = defaultTTL
	}
	if s.Quarantine == 0 {
		s.Quarantine = s.Lock.TTL
	}
	s.keep = nodes - s.Majority + 1
	s.need = max(s.Majority, s.keep+s.Surplus)
	return s, nil
}

func (s *settings) checkFor(nodes int) error {
	most := nodes - (nodes - s.Majority + 1)
	switch {
	case nodes < MinNodes || nodes > MaxNodes:
		return input.Errorf("nodes", "are %d, allowed are %d to %d: fewer cannot outvote one that fails",
			nodes, MinNodes, MaxNodes)
	case s.Majority == 0:
		return input.Errorf("majority", "must be said for an even number of nodes: %d of %d at least", nodes/2+1, nodes)
	case s.Majority <= nodes/2 || s.Majority > nodes:
		return input.Errorf("majority", "is %d, allowed are %d to %d of %d nodes", s.Majority, nodes/2+1, nodes, nodes)
	case s.Surplus < 0 || s.Surplus > most:
		return input.Errorf("surplus", "is %d, allowed are 0 to %d: there are %d nodes", s.Surplus, most, nodes)
	case s.Quarantine != -1 && (s.Quarantine < 0 || s.Quarantine > lock.MaxTTL):
		return input.Errorf("quarantine", "is %s, allowed are 0 to %s, and -1 for none", s.Quarantine, lock.MaxTTL)
	case s.Quarantine > 0 && s.Quarantine < time.Millisecond:
		return input.Errorf("quarantine", "is %s, the least is 1ms", s.Quarantine)
	case s.Quarantine > 0 && s.Quarantine < s.Lock.TTL:
		return input.Errorf("quarantine", "is %s, the least is the TTL, %s", s.Quarantine, s.Lock.TTL)
	}
	return nil
}

// age is how long a node must have been up to have a vote for a lock of that TTL.
func (s *settings) age(ttl time.Duration) time.Duration {
	if s.Quarantine == -1 {
		return 0
	}
	return max(s.Quarantine, ttl)
}
