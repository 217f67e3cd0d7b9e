package combination

import (
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
)

// The limits of options.
const (
	MinNodes       = 2
	MaxNodes       = 16
	MinNodeTimeout = time.Millisecond
	MaxNodeTimeout = time.Minute
)

// Options configure a client of several stores. The zero value and nil mean the defaults.
type Options struct {
	// Lock are the options that do not depend on the stores.
	Lock lock.Options
	// NodeTimeout is how long one answer of one node is waited for when the lock is taken or given back. It measures
	// this process, too, when it has much to do. Defaults to 5 ms, for nodes in the same building and machines with
	// time to spare; between [MinNodeTimeout] and [MaxNodeTimeout].
	NodeTimeout time.Duration
	// Retry is for how long a node that has not answered is left out at most. It is asked for a sign of life after
	// 10 ms, and left out for ten times as long each time it gives none; at once, if fewer than MinNodes are left.
	// Defaults to 15 minutes, the least is 1 ms.
	Retry time.Duration
	// MinNodes is how many nodes must be there for somebody to begin to take a lock: have answered this client, and
	// lately. Who has begun, and loses nodes on the way, may go on with those that are left, with one if need be. With
	// more than half of all, two clients who see different nodes fail have one in common, unless one of them loses it
	// on the way. Defaults to 2.
	MinNodes int
	// AcquireTimeout is how long it may take to take a lock at all nodes. Defaults to NodeTimeout for each of
	// them and 100 ms.
	AcquireTimeout time.Duration
}

func (o *Options) withDefaults(nodes int) (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	if filled.NodeTimeout == 0 {
		filled.NodeTimeout = 5 * time.Millisecond
	}
	if filled.Retry == 0 {
		filled.Retry = 15 * time.Minute
	}
	if filled.MinNodes == 0 {
		filled.MinNodes = 2
	}
	if filled.AcquireTimeout == 0 {
		filled.AcquireTimeout = filled.NodeTimeout*time.Duration(nodes) + 100*time.Millisecond
	}
	return filled, filled.checkFor(nodes)
}

func (o *Options) checkFor(nodes int) error {
	switch {
	case nodes < MinNodes || nodes > MaxNodes:
		return input.Errorf("nodes", "are %d, allowed are %d to %d", nodes, MinNodes, MaxNodes)
	case o.NodeTimeout < MinNodeTimeout || o.NodeTimeout > MaxNodeTimeout:
		return input.Errorf("nodeTimeout", "is %s, allowed are %s to %s", o.NodeTimeout, MinNodeTimeout, MaxNodeTimeout)
	case o.Retry < time.Millisecond:
		return input.Errorf("retry", "is %s, the least is 1ms", o.Retry)
	case o.MinNodes < 1 || o.MinNodes > nodes:
		return input.Errorf("minNodes", "is %d, allowed are 1 to %d: there are %d nodes", o.MinNodes, nodes, nodes)
	case o.AcquireTimeout < o.NodeTimeout:
		return input.Errorf("acquireTimeout", "is %s, the least is nodeTimeout, %s", o.AcquireTimeout, o.NodeTimeout)
	}
	return nil
}
