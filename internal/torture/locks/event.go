package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// kind says what an event is.
type kind string

const (
	// Of one lease, in this order.
	kindAsk  kind = "ask"  // Lock or TryLock is about to be called
	kindGot  kind = "got"  // it has returned a lease
	kindNo   kind = "no"   // it has returned an error
	kindGood kind = "good" // the lease could still be relied on
	kindEnd  kind = "end"  // the lease's context has ended by itself
	kindOut  kind = "out"  // Unlock is about to be called
	kindLeft kind = "left" // it has returned

	// Of a client.
	kindClosing kind = "closing"
	kindClosed  kind = "closed"

	// Of a process.
	kindBorn  kind = "born"
	kindStall kind = "stall" // it did not run
	kindTally kind = "tally" // leases of names that nobody else wants
	kindKept  kind = "kept"  // such a lease that was lost
	kindGone  kind = "gone"  // it ends by itself
	kindKill  kind = "kill"  // it was killed

	// Of the controller.
	kindFault   kind = "fault"
	kindSlow    kind = "slow"    // the store did not answer in time, though nobody did anything to it
	kindRefused kind = "wrote"   // the guarded resource has let no write through
	kindResidue kind = "residue" // a lock that is left at the end
	kindBegin   kind = "begin"   // of the run
	kindFinish  kind = "finish"
	kindDoubt   kind = "doubt" // why the run proves nothing
)

// event is one line of the history.
type event struct {
	At   time.Duration `json:"at"`
	Kind kind          `json:"k"`
	// Op tells the leases of a life apart, Client its clients.
	Op     int64 `json:"op,omitempty"`
	Client int   `json:"c,omitempty"`

	Name  string `json:"n,omitempty"`
	Style style  `json:"s,omitempty"`
	// Until is when the call has to return, whatever happens; zero: no limit.
	Until   time.Duration `json:"until,omitempty"`
	TTL     time.Duration `json:"ttl,omitempty"`
	MinHold time.Duration `json:"min,omitempty"`
	Token   uint64        `json:"t,omitempty"`
	Owner   string        `json:"o,omitempty"`
	// Class is an error in one word, Text all of it.
	Class class  `json:"e,omitempty"`
	Text  string `json:"x,omitempty"`
	// Doubt says that what failed may have taken effect all the same.
	Doubt bool `json:"doubt,omitempty"`

	// From is when a stall, a slow answer or a kept lease began; Good is when a lost
	// lease could last be relied on.
	From time.Duration `json:"from,omitempty"`
	Good time.Duration `json:"good,omitempty"`
	// Took is how long the grant of a kept lease took, or its release: nobody else had the lock.
	Took time.Duration `json:"took,omitempty"`
	// N counts: leases, goroutines, files.
	N int `json:"n1,omitempty"`
	M int `json:"n2,omitempty"`

	Window *nemesis.Window `json:"w,omitempty"`
	Plan   *settings       `json:"plan,omitempty"`
}

// settings are what the oracles have to know of a run.
type settings struct {
	Name string `json:"name"`
	Seed uint64 `json:"seed"`
	// Prefix begins all names of the run.
	Prefix string `json:"prefix"`
	// Acks says that every grant must be confirmed by a replica.
	Acks bool `json:"acks,omitempty"`
	// Mixed says that workers are of several kinds, and to some of them locks are passed on.
	Mixed bool `json:"mixed,omitempty"`
	// Slack is for how much longer than it was told the store may keep a lock.
	Slack time.Duration `json:"slack,omitempty"`
	// AfterDeath is for how much longer than a lease the store may keep the locks of a client that has died.
	AfterDeath time.Duration `json:"after_death,omitempty"`
	// Transactional says that a client which stands still amid a transaction may keep all others from the store.
	Transactional bool `json:"transactional,omitempty"`
	// Passing says that locks are passed on to all of them.
	Passing bool `json:"passing,omitempty"`
}

// class is an error in one word.
type class string

const (
	classHeld     class = "held"
	classGone     class = "gone" // the caller's context has ended
	classLost     class = "lost"
	classClosed   class = "closed"
	classReleased class = "released"
	classFailed   class = "failed"
)

// style is how a lock is taken.
type style string

const (
	plain     style = "lock"
	try       style = "try"
	cancelled style = "cancelled" // the caller gives up at a random moment
	reentered style = "re-entered"
	minHold   style = "min-hold"
	fixed     style = "fixed"
	half      style = "half-ttl" // held for about half of the TTL
	full      style = "ttl"      // held for about the TTL
	lasting   style = "lasting"  // held long enough for others to come by, with a lease that lasts
	devoted   style = "devoted"  // always the same name, with much patience
	inside    style = "inside"   // entered again under a lease
	called    style = "called"   // over HTTP, without the client
)
