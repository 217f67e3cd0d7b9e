package election

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/attempt"
)

// ErrNoLeader says that nobody leads.
var ErrNoLeader = errors.New("no leader")

// Leader is who leads, as the backend tells.
type Leader struct {
	// Name is the election's name.
	Name string
	// Owner is the leader's owner id, or what the backend tells of that: see [Term.Owner]. It is empty if
	// nobody leads.
	Owner string
	// Token is the fencing token of the term. A leader that has none, as one in Java without RFencedLock, is told with
	// that of the last one who had one.
	Token uint64
	// Since is when it has begun, by the backend's clock; zero when that does not tell.
	Since time.Time
	// TTL is how long it lasts unless renewed; negative when it never ends.
	TTL time.Duration
	// Meta is what the leader has stored: [Options.Meta], and "host" and "pid". Empty if it stores nothing, as Java.
	Meta map[string]string
}

// isSameTerm reports whether two are one leader in one term, as far as the backend tells.
func (l *Leader) isSameTerm(other *Leader) bool {
	return l.Owner == other.Owner && l.Token == other.Token
}

// Leader returns the present leader, or fails with [ErrNoLeader]. It asks the backend once, and waits 5 s for the
// answer; its errors are those of [lock.Client.Inspect], and [lock.ErrKind] if somebody has a lock of another kind
// under the name.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	if err := e.usable(ctx); err != nil {
		return Leader{}, err
	}
	return e.readLeader(ctx)
}

// readLeader asks the backend who leads.
func (e *Election) readLeader(ctx context.Context) (Leader, error) {
	var usual *lock.Options
	info, failure := attempt.Once(ctx, e.locks, usual.AnswerTime(), func(ctx context.Context) (lock.Info, error) {
		return e.locks.Inspect(ctx, e.name)
	})
	switch {
	case failure != nil:
		return Leader{}, e.errorOf(failure.Err)
	case !info.Held():
		return Leader{}, e.errorOf(ErrNoLeader)
	case info.Kind != driver.Mutex:
		return Leader{}, e.errorOf(&driver.KindError{Found: info.Kind, Wanted: driver.Mutex})
	}
	h := &info.Holders[0]
	return Leader{
		Name: e.name, Owner: h.Owner, Token: cmp.Or(h.Token, info.Token), Since: h.Since, TTL: h.TTL, Meta: h.Meta,
	}, nil
}
