package lock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	outcomes "github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// deniedError is what a database says to an account that lacks a right.
type deniedError struct{}

func (*deniedError) Error() string { return "permission denied" }

var errDenied = fmt.Errorf("%w: %w", driver.ErrRefused, &deniedError{})

// stalled are renewals that outlast their contexts by as much as any lease.
func stalled(ctx context.Context, grants []driver.Grant) []error {
	<-ctx.Done()
	time.Sleep(time.Minute)
	return allFail(grants, ctx.Err())
}

// unanswered are renewals that have no answer.
func unanswered(ctx context.Context, grants []driver.Grant) []error {
	<-ctx.Done()
	return allFail(grants, ctx.Err())
}

// after makes renewals fail in two ways, one after the other.
func after(first error, then func(context.Context, []driver.Grant) []error) func(
	context.Context, []driver.Grant,
) []error {
	asked := false
	return func(ctx context.Context, grants []driver.Grant) []error {
		if asked {
			return then(ctx, grants)
		}
		asked = true
		return allFail(grants, first)
	}
}

func TestALossByTheClockSaysWhatTheRenewalsWereTold(t *testing.T) {
	const began = `lock "a": lease: lost: not renewed in time`
	for name, c := range map[string]struct {
		renew func(context.Context, []driver.Grant) []error
		says  string
		is    error
	}{
		"refused":         {failRenewals(errDenied), ": refused: permission denied", driver.ErrRefused},
		"the last counts": {after(errDenied, failRenewals(errDown)), ": unavailable; connection refused", errDown},
		"two errors": {
			failRenewals(errors.Join(errDown, errDenied)), ": unavailable; connection refused; refused: ", errDown,
		},
		"its own time-out": {
			failRenewals(unreachable()), ": redislock: acquire \"a\": unavailable: dial tcp 127.0.0.1:9: i/o timeout",
			driver.ErrUnavailable,
		},
		"in doubt":         {failRenewals(outcomes.Unknown(errMute)), ": connection reset", errMute},
		"no answer":        {unanswered, ": no answer in 1", driver.ErrUnavailable},
		"never comes back": {stalled, ": no answer in 1", driver.ErrUnavailable},
		"no answer in the end": {
			after(errDenied, unanswered), "s; before that: refused: permission denied", driver.ErrRefused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				lease := mustLock(t, open(t, backend, nil).Mutex("a", nil))
				backend.set(hooks{renew: c.renew})
				<-lease.Context().Done()
				backend.heal()
				wantLossWithReason(t, lease, began, c.says, c.is)
			})
		})
	}
}

// wantLossWithReason checks what a lost lease says: it begins so, says that besides, and matches that error.
func wantLossWithReason(t *testing.T, lease *lock.Lease, began, says string, is error) {
	t.Helper()
	err := lease.Err()
	wantErr(t, err, lock.ErrLost)
	wantErr(t, err, is)
	wantErr(t, context.Cause(lease.Context()), is)
	wantText(t, err, says)
	switch {
	case !strings.HasPrefix(err.Error(), began) || strings.Contains(err.Error(), "\n"):
		t.Errorf("it reads %q", err)
	case outcomes.IsContextError(err):
		t.Errorf("it is the end of a context: %v", err)
	case lock.MaybeApplied(err):
		t.Errorf("it is in doubt: %v", err)
	}
	if _, denied := errors.AsType[*deniedError](err); denied != errors.Is(err, driver.ErrRefused) {
		t.Errorf("what the database said is found: %t, in %v", denied, err)
	}
}

// TestALossSaysWhatIsOver: the renewals that failed are long ago, and one has succeeded since.
func TestALossSaysWhatIsOver(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		lease := mustLock(t, open(t, backend, nil).Mutex("a", nil))
		backend.set(hooks{renew: after(errDenied, backend.Backend.Renew)})
		time.Sleep(time.Minute)
		backend.suspend(time.Hour)
		wantEqual(t, "error", lease.Err().Error(), `lock "a": lease: lost: not renewed in time`)
	})
}

// TestALossThatIsToldWithItsReason is not one by force.
func TestALossThatIsToldWithItsReason(t *testing.T) {
	virtual(t, func(t *testing.T) {
		way := &mailbox{faulty: newFaulty(nil)}
		lease := mustLock(t, open(t, way, nil).Mutex("a", nil))
		way.tell(driver.Message{
			Name: "a", Owner: lease.Owner(), Kind: driver.Taken,
			Why: errors.Join(errDenied, context.DeadlineExceeded),
		})
		synctest.Wait()
		wantLossWithReason(t, lease, `lock "a": lease: lost: refused: permission denied; context deadline exceeded`, "",
			driver.ErrRefused)
		wantEqual(t, "releases", way.releases.Load(), 1) // it may have been granted once more
	})
}
