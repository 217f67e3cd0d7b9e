package memlock_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// ask asks for a lock to read or to write.
func ask(t *testing.T, b driver.Backend, mode driver.Mode, owner string) (driver.Grant, error) {
	t.Helper()
	return b.Acquire(t.Context(), driver.Request{
		Name: "a", Owner: owner, Mode: mode, Waits: true, TTL: time.Minute, Tokens: 1,
	})
}

// TestReadersHaveTheirGo: two writers would pass the lock to and fro, and keep readers off for each other.
func TestReadersHaveTheirGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memlock.NewBackend(nil)
		first, err := ask(t, b, driver.Write, "w1")
		if err != nil {
			t.Fatal(err)
		}
		for _, waits := range []struct {
			mode  driver.Mode
			owner string
		}{{driver.Shared, "r"}, {driver.Write, "w2"}} {
			if _, err := ask(t, b, waits.mode, waits.owner); !errors.Is(err, driver.ErrHeld) {
				t.Fatal(err)
			}
		}
		other, err := ask(t, b, driver.Shared, "r0")
		if !errors.Is(err, driver.ErrHeld) {
			t.Fatal(other, err)
		}
		if _, err := b.Release(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if _, err := ask(t, b, driver.Shared, "r"); err != nil {
			t.Fatalf("a reader that waited is kept off by the next writer: %v", err)
		}
		if _, err := ask(t, b, driver.Write, "w2"); !errors.Is(err, driver.ErrHeld) {
			t.Fatal(err)
		}
		if _, err := ask(t, b, driver.Shared, "r0"); err != nil {
			t.Errorf("the other reader that waited is kept off: %v", err)
		}
		time.Sleep(200 * time.Millisecond)
		if _, err := ask(t, b, driver.Write, "w2"); !errors.Is(err, driver.ErrHeld) {
			t.Fatal(err)
		}
		if _, err := ask(t, b, driver.Shared, "late"); !errors.Is(err, driver.ErrHeld) {
			t.Errorf("a reader that came later is not kept off: %v", err)
		}
	})
}
