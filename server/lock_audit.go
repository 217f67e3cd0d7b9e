package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// LockOperator asks for locks that others have, and takes them away; a *lock.Client does.
type LockOperator interface {
	ForceRelease(ctx context.Context, name string) (held bool, err error)
	Ask(ctx context.Context, name, reason string, within time.Duration) (told int, err error)
}

// AuditedLocks does what the API does when people want a lock that others have, for a console: it is written to the
// same audit trail, with who and why, and observed.
type AuditedLocks struct {
	operator LockOperator
	log      *slog.Logger
	observer LockObserver
}

// NewAuditedLocks returns what asks and takes by an operator. No observer is none.
func NewAuditedLocks(operator LockOperator, log *slog.Logger, observer LockObserver) *AuditedLocks {
	if observer == nil {
		observer = nobody{}
	}
	return &AuditedLocks{operator, log, guarded{observer, log}}
}

// ForceRelease takes a lock away. It reports whether anybody had it.
func (a *AuditedLocks) ForceRelease(ctx context.Context, name, reason string) (held bool, err error) {
	held, err = a.operator.ForceRelease(ctx, name)
	audit(ctx, a.log, "force release", err, "lock", name, "held", held, "reason", reason)
	if err == nil && held {
		a.observer.Observe(ctx, LockEvent{Kind: LockEventForced, Name: name})
	}
	return held, err
}

// Ask asks all who have a lock to give it back, and returns how many were told.
func (a *AuditedLocks) Ask(ctx context.Context, name, reason string, within time.Duration) (told int, err error) {
	told, err = a.operator.Ask(ctx, name, reason, within)
	auditAsk(ctx, a.log, name, driver.Plea{Reason: reason, Within: within}, told, err)
	return told, err
}

// auditAsk writes who has asked for a lock, by whatever way: the lines of all are found by the same words.
func auditAsk(ctx context.Context, log *slog.Logger, name string, p driver.Plea, told int, err error) {
	audit(ctx, log, "ask", err, "lock", name, "told", told, "within", p.Within, "reason", p.Reason)
}
