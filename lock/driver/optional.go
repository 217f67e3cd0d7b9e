package driver

import (
	"context"
	"time"
)

// Waiter is implemented by backends that can tell when a name may have become
// free. Without it package lock polls.
type Waiter interface {
	// Watch listens for releases of name, a lock of that kind. It returns once listening has
	// begun, so that a try made afterwards cannot miss a release.
	Watch(ctx context.Context, name string, kind Kind) (Watch, error)
}

// Watch is one listener.
type Watch interface {
	// C receives after a release, after a renewal that has shortened the time left,
	// and whenever either may have been missed (a connection was re-made). It holds one
	// signal; more are dropped.
	C() <-chan struct{}
	// Count returns how many releases it has told of so far, dropped signals and
	// the client's own releases included.
	Count() uint64
	// Close stops listening. It does not block on the network.
	Close()
}

// Resumer is implemented by a [Waiter] that goes on listening for a while after the last watch
// of a name was closed.
type Resumer interface {
	// Resume returns a watch of a name that it listens for at this moment, else nil.
	Resume(name string, kind Kind) Watch
}

// Successor is implemented by backends whose stores can pass a lock on: who releases it gives it
// to who has waited for longest, with no request in between.
type Successor interface {
	// Stand is Acquire by a request that may stand in the store's line when it is refused, as the
	// refusal's Claim tells. It may be granted as long as it stands; asking again in time under
	// the same owner makes it stand for longer, and in its old place. A request stands alone of its
	// client, and name; those that are Fair each have a place.
	//
	// Who does not want it any more releases what the owner may have been granted, as after a
	// request without an answer.
	Stand(ctx context.Context, req Request) (Grant, error)
	// Inherit sets who is told what was granted to requests that stand; it is called once, before
	// the first of them. It may be told late, several times, not at all, and before Stand returns. Of
	// a grant without an owner only the name is known: one may have been missed; and one without tokens
	// is to be asked for. It must not block, nor call the backend.
	Inherit(tell func(Grant))
}

// TurnWaiter is implemented by backends that keep to [Request.Fair] and can tell one of those in line that it
// may be its turn. Where it stands by [Successor.Stand] its grant is told as of any request that stands, unless the
// refusal says [HeldError.Listen].
type TurnWaiter interface {
	// WatchTurn listens for the turn of a request for name by owner. It returns once listening has begun, so
	// that a try made afterwards cannot miss it.
	WatchTurn(ctx context.Context, name, owner string) (Watch, error)
}

// Identifier is implemented by backends that can tell whether two of them are clients of one store, however they
// came to it.
type Identifier interface {
	// Identity asks the store who it is: the same for all its clients, and another for every other store. It may be
	// another after each start. Where one store has several places in which a name is another lock each, as below
	// prefixes of keys, it is made by [IdentityIn].
	Identity(ctx context.Context) (string, error)
}

// Spread is implemented by the [Grant.Handle] of a grant that is on several stores.
type Spread interface {
	// Spread returns on how many of how many stores the grant is, and how many of those may forget it before
	// somebody else can have the lock.
	Spread() (held, stores, surplus int)
}

// Sharder is implemented by backends whose names live on several servers.
// Renewals of different shards are sent apart, so that one failing server
// delays none of the others' leases.
type Sharder interface {
	// Shard returns a small number, equal for names that fail together.
	Shard(name string) int
}

// Timekeeper is implemented by backends that live in this process and so stop
// when it stops: their leases are judged by their own clock. All others are
// judged by the machine's boot-time clock, which goes on during suspend.
type Timekeeper interface {
	// Now returns the time since an arbitrary fixed moment.
	Now() time.Duration
}

// Inspector is implemented by backends that can tell who holds what.
type Inspector interface {
	// Inspect describes name; a free lock has no holders.
	Inspect(ctx context.Context, name string) (Info, error)
	// List describes held locks whose names begin with prefix, at most limit.
	List(ctx context.Context, prefix string, limit int) ([]Info, error)
}

// Info describes a lock.
type Info struct {
	Name string
	// Kind is what the lock is; Mutex if nobody has it.
	Kind Kind
	// Limit is how many permits there are, of a semaphore that somebody has permits of.
	Limit int
	// Token is the newest token the store has given out for the name; where it counts once
	// for all names, for any, unless the lock is held.
	Token uint64
	// Holders are those who have the lock now; none when it is free.
	Holders []Holder
	// Waiting is how many processes listen for the release, 0 for a free lock, and how many have somebody in
	// Line. Whoever heard one a moment ago may be among them, and a holder that had to wait itself for as long as it
	// holds.
	Waiting int
	// Line is who waits for a fair lock, in order; also while nobody has it.
	Line []InLine
}

// InLine is somebody who waits for a fair lock.
type InLine struct {
	// Owner is the request's, or its [PublicOwner].
	Owner string
	// Since is when it has come by the store's clock; zero if unknown.
	Since time.Time
	// Meta is what would be stored beside its grant.
	Meta string
}

// Holder describes a grant.
type Holder struct {
	// Owner is the grant's, or its [PublicOwner].
	Owner string
	Mode  Mode
	// Permits is how many it has, in mode [Permit].
	Permits int
	// Upgradeable says that it is the reader who may become a writer.
	Upgradeable bool
	// Token is the first token of the grant. It is 0 where the store does not tell it: of a holder who is alone, and
	// was granted one token, it is [Info.Token] then.
	Token uint64
	// Since is when the grant was given by the store's clock; zero if unknown.
	Since time.Time
	// TTL is the time left unless renewed; negative when it never ends.
	TTL time.Duration
	// Linger is for how long its client may keep the grant when nobody there has it any more.
	Linger time.Duration
	// Meta is what the owner stored beside the grant.
	Meta string
}

// Forcer is implemented by backends that can take a lock away.
type Forcer interface {
	// ForceRelease frees name whoever holds it and raises its token, so that
	// the former holder's writes are refused by a guard. It reports whether the
	// name was held.
	ForceRelease(ctx context.Context, name string) (bool, error)
}

// Checker is implemented by backends that can examine the server's settings.
type Checker interface {
	// Check returns what it found, worst first.
	Check(ctx context.Context) ([]Finding, error)
}

// Finding is one thing worth knowing about a server's settings.
type Finding struct {
	Level Level
	// What was found, such as "maxmemory-policy is allkeys-lru".
	What string
	// Means says what it does to the safety of locks.
	Means string
}

// Level grades a finding.
type Level uint8

// The levels, from good to bad.
const (
	OK Level = iota
	Notice
	Warning
	Danger
)

// String returns the level's name.
func (l Level) String() string {
	return [...]string{"ok", "notice", "warning", "danger"}[min(l, Danger)]
}
