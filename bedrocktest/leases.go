package bedrocktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

// Held checks that a lease can be relied on now.
func Held(t testing.TB, lease *lock.Lease) {
	t.Helper()
	if err := lease.Err(); err != nil {
		t.Errorf("want it held: %v", err)
	}
}

// Lost checks that a lease ends because its lock was lost. It waits for that, but no
// longer than a minute.
func Lost(t testing.TB, lease *lock.Lease) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case <-lease.Context().Done():
	case <-ctx.Done():
	}
	// The context given to Lock may have ended, and the lock is held on: no channel tells its loss.
	for lease.Err() == nil && ctx.Err() == nil {
		time.Sleep(lostPoll)
	}
	switch err := lease.Err(); {
	case err == nil:
		t.Errorf("lock %q: want it lost, it is %s", lease.Name(), lease.State())
	case !errors.Is(err, lock.ErrLost):
		t.Errorf("lock %q: want it lost: %v", lease.Name(), err)
	}
}

// lostPoll is how often Lost looks where nothing tells it.
const lostPoll = time.Millisecond

// NotHeld checks that nobody has the lock of that name.
func NotHeld(t testing.TB, locks *lock.Client, name string) {
	t.Helper()
	info, err := locks.Inspect(t.Context(), name)
	switch {
	case err != nil:
		t.Fatalf("inspect: %v", err)
	case info.Held():
		t.Errorf("want it free: %s", describeLock(&info))
	}
}

// NoLocksLeft checks that nobody has a lock whose name begins with prefix, which may be
// empty. It looks once, so first stop what may still release.
func NoLocksLeft(t testing.TB, locks *lock.Client, prefix string) {
	t.Helper()
	const most = 1000
	left, err := locks.List(t.Context(), prefix, most)
	if err != nil {
		t.Fatalf("list locks: %v", err)
	}
	for i := range left {
		t.Errorf("left behind: %s", describeLock(&left[i]))
	}
}

func describeLock(info *lock.Info) string {
	var holders []string
	for _, h := range info.Holders {
		text := "held by " + h.Owner
		if !h.Since.IsZero() {
			text += " since " + h.Since.Format(time.RFC3339)
		}
		holders = append(holders, fmt.Sprintf("%s, %v", text, h.Meta))
	}
	return fmt.Sprintf("lock %q is %s; token %d", info.Name, strings.Join(holders, "; "), info.Token)
}
