package bedrocktest

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// theftTime is how long the backend may take to give a lock to somebody else.
const theftTime = 10 * time.Second

// Hold gives the lock of that name to somebody else, until release is called or the
// test ends; in a test that lets more time pass than [lock.MaxTTL], a day, until that is
// over: no lease is longer, and nobody renews this one. It fails the test if the lock is
// held already.
func (b *Backend) Hold(t testing.TB, name string) (release func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), theftTime)
	defer cancel()
	grant, err := b.inner.Acquire(ctx, driver.Request{
		Name: name, Owner: "somebody-else-" + rand.Text(), TTL: lock.MaxTTL, Tokens: 1,
	})
	if err != nil {
		t.Fatalf("bedrocktest: hold %q: %v", name, err)
	}
	release = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), theftTime)
		defer cancel()
		_, _ = b.inner.Release(ctx, grant) // it may have been taken away meanwhile
	})
	t.Cleanup(release)
	return release
}

// TakeAway makes the backend forget who has the lock of that name, as a forced release
// does. The holder learns of it when it renews its lease: after half of the TTL, or
// when a [Clock] is advanced by that. It fails the test if nobody had the lock, or the
// backend cannot do it.
func (b *Backend) TakeAway(t testing.TB, name string) {
	t.Helper()
	inner, ok := b.inner.(driver.Forcer)
	if !ok {
		t.Fatalf("bedrocktest: take %q away: %v", name, driver.ErrUnsupported)
	}
	ctx, cancel := context.WithTimeout(t.Context(), theftTime)
	defer cancel()
	held, err := inner.ForceRelease(ctx, name)
	switch {
	case err != nil:
		t.Fatalf("bedrocktest: take %q away: %v", name, err)
	case !held:
		t.Fatalf("bedrocktest: take %q away: nobody has it", name)
	}
}
