package election

import (
	"context"

	"github.com/bedrock-go/bedrock/lock"
)

// Term is what a leader has, for as long as it leads. It is safe for concurrent use.
type Term struct{ lease *lock.Lease }

// Context returns a child of the context given to Campaign. It ends with cause [lock.ErrLost] when leadership was lost,
// before anybody else can be the leader, with [lock.ErrReleased] when the leader resigns, and with [lock.ErrClosed]
// when the client is stopped.
func (t *Term) Context() context.Context { return t.lease.Context() }

// Token returns the fencing token, higher than that of every term before: see [lock.Lease.Token].
func (t *Term) Token() uint64 { return t.lease.Token() }

// Owner returns the owner id under which the backend knows the leader. Who observes may be told a part of its hash
// instead, see [driver.PublicOwner].
func (t *Term) Owner() string { return t.lease.Owner() }

// Err returns nil while it leads, and otherwise why it does not: an error matching [lock.ErrLost],
// [lock.ErrReleased] or [lock.ErrClosed].
func (t *Term) Err() error { return t.lease.Err() }

// Lease returns the lease that the leader has.
func (t *Term) Lease() *lock.Lease { return t.lease }

// Resign ends the term, and lets others lead, a millisecond after it has begun at the soonest. It works when ctx is
// over already: see [lock.Lease.Unlock], whose errors it has.
func (t *Term) Resign(ctx context.Context) error { return t.lease.Unlock(ctx) }
