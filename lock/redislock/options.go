package redislock

import (
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
)

// Options configure a client on Redis. The zero value and nil mean the
// defaults.
type Options struct {
	// Lock are the options that do not depend on the backend. A Logger in them also
	// gets what the server's settings mean for the safety of locks, once; without one
	// they are not examined, which is for Client.Check and bedrock doctor.
	Lock lock.Options
	// Profile is whose locks are shared. Defaults to [Redisson].
	Profile Profile
	// Semaphores is which of Redisson's semaphores lock.Client.Semaphore is, in the profile
	// Redisson. Defaults to [RPermitExpirableSemaphore]. All clients of a name need the same.
	Semaphores Semaphores
	// PubSub is how releases are published in a cluster. Defaults to
	// [PubSubAuto], which is what Redisson does.
	PubSub PubSub
	// TokenTTL is how long the fencing counter of a name outlives its last
	// grant. A lost counter never goes back, because it starts at the server's
	// clock; so it need not be kept for ever. Do keep it, with -1, if Java's
	// fenced locks (RFencedLock) use the same names: they only count, and
	// would begin at 1 again. Defaults to 24 h, the longest that a lease may be, and
	// is never shorter than that.
	TokenTTL time.Duration
	// Acks is how many replicas must have a grant before it counts:
	// [AcksNone], a number up to [MaxAcks], [AckMajority] or [AckAll]. A grant that too few
	// have in time is taken back and reported as an [AckError]. It makes a
	// grant lost in a fail-over less likely, not impossible: no Redis can
	// promise which replica is promoted. Renewals are not waited for: one that
	// is lost shortens the lease, it does not lose the lock. Nor are latches,
	// as they are no grants. Defaults to AcksNone.
	Acks Acks
	// AckTimeout bounds the wait for replicas. Between [MinAckTimeout] and
	// [MaxAckTimeout]; more than four fifths of the time for one answer,
	// [lock.Options.AnswerTime], is as much as that: 4 s, or less with a Patience below
	// 10 s. Defaults to 1 s.
	AckTimeout time.Duration
}

// Profile is a layout of locks, shared with other libraries.
type Profile uint8

const (
	// Redisson shares locks with RLock, RFencedLock, the spin lock and the
	// non-reentrant lock of Redisson 3.24 to 4.7, and latches with RCountDownLatch.
	Redisson Profile = iota
	// Redlock shares locks with everything that uses SET NX PX and
	// compare-and-delete, such as redsync and bsm/redislock. Those publish no
	// releases, so a contender looks again every 100 ms at the latest;
	// releases by Bedrock wake it at once. Metadata is not stored, the time
	// left of a holder is told as 100 ms at most, and there are no latches.
	Redlock
)

// PubSub is how releases are published in a cluster. Elsewhere it is always
// PUBLISH.
type PubSub uint8

const (
	// PubSubAuto uses SPUBLISH if the servers know it, else PUBLISH.
	PubSubAuto PubSub = iota
	// PubSubClassic uses PUBLISH, as Redisson before 3.22 does.
	PubSubClassic
	// PubSubSharded uses SPUBLISH.
	PubSubSharded
)

// Acks is a number of replicas.
type Acks int

const (
	// AcksNone waits for no replica.
	AcksNone Acks = 0
	// AckMajority waits until most of the master and its replicas have the
	// grant. It counts the replicas connected to the master, once a second; one
	// that has gone is waited for in vain for 5 s more, so that a new master
	// grants nothing before its replicas have found it. After that the others
	// are enough, and a master without any waits for nobody: a number insists
	// on that many, whoever is there.
	AckMajority Acks = -1
	// AckAll waits for every replica. It counts them as AckMajority does.
	AckAll Acks = -2
)

// The limits of options.
const (
	MaxAcks       = 1000 // far more replicas than anybody has
	MinAckTimeout = time.Millisecond
	MaxAckTimeout = lock.MaxTTL
	MinTokenTTL   = time.Millisecond
)

func (o *Options) withDefaults() (Options, error) {
	var filled Options
	if o != nil {
		filled = *o
	}
	if filled.TokenTTL == 0 {
		filled.TokenTTL = 24 * time.Hour
	}
	if filled.AckTimeout == 0 {
		filled.AckTimeout = time.Second
	}
	if err := filled.validate(); err != nil {
		return filled, err
	}
	filled.AckTimeout = min(filled.AckTimeout, filled.longestAck())
	return filled, nil
}

// longestAck is how long replicas are waited for at most, so that their number is told before
// the request is given up: the rest of its time is for the way there and back.
func (o *Options) longestAck() time.Duration { return o.Lock.AnswerTime() * 4 / 5 }

func (o *Options) validate() error {
	switch {
	case o.Profile > Redlock:
		return input.Errorf("profile", "is %d, allowed are Redisson and Redlock", o.Profile)
	case o.Semaphores > RSemaphore:
		return input.Errorf("semaphores", "is %d, allowed are RPermitExpirableSemaphore and RSemaphore", o.Semaphores)
	case o.Semaphores != RPermitExpirableSemaphore && o.Profile == Redlock:
		return input.Errorf("semaphores", "are said, but the profile Redlock has none")
	case o.PubSub > PubSubSharded:
		return input.Errorf("pubSub", "is %d, allowed are PubSubAuto, PubSubClassic and PubSubSharded", o.PubSub)
	case o.TokenTTL != -1 && o.TokenTTL < MinTokenTTL:
		return input.Errorf("tokenTTL", "is %s; use -1 to keep tokens for ever", o.TokenTTL)
	case o.Acks < AckAll || o.Acks > MaxAcks:
		return input.Errorf("acks", "is %d, allowed are AckAll, AckMajority and 0 to %d", o.Acks, MaxAcks)
	case o.AckTimeout < MinAckTimeout || o.AckTimeout > MaxAckTimeout:
		return input.Errorf("ackTimeout", "is %s, allowed are %s to %s", o.AckTimeout, MinAckTimeout, MaxAckTimeout)
	}
	return nil
}
