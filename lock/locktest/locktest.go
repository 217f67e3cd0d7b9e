package locktest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Backend is what is put to the test.
type Backend struct {
	// Open returns the server for one behaviour: a fresh one, or, when Shared,
	// one that other behaviours use too. What it opens it closes with
	// [testing.TB.Cleanup].
	Open func(t testing.TB) Server
	// Shared says that Open returns the same server again and again. Behaviours
	// that disturb it then run alone.
	Shared bool
	// Virtual runs every behaviour in a testing/synctest bubble. Only for backends that
	// use no network, and that are a [driver.Timekeeper]: the clock by which the leases of
	// others are judged is the machine's, and stands still there.
	Virtual bool
	// TTL is the lease length of behaviours that see a lease end: as short as is
	// realistic, so that the suite is quick. Defaults to 500 ms.
	TTL time.Duration
	// PublicOwners says that others are told a holder's [driver.PublicOwner], as behind
	// an API where the owner is the key to the lock. Else they are told the owner.
	PublicOwners bool
	// Exempt says what the backend or its server cannot do, and why.
	Exempt map[Capability]string
}

// Server is a store that clients connect to, and what a test can do to it. A nil
// function is a capability to be exempted.
type Server struct {
	// Connect makes a new, independent client of the store. The suite closes
	// the backend; what lies below it Connect closes with Cleanup.
	Connect func(t testing.TB) driver.Backend
	// Freeze stops the store without closing its connections, until Thaw.
	Freeze, Thaw func()
	// Restart stops the store and starts it again, with its data or without.
	Restart func(keepData bool)
	// Disconnect breaks every connection once.
	Disconnect func()
	// Lag makes a new client like Connect, over a line that can be slowed: what the
	// client sends after a call of hold arrives d late, and is overtaken by what it
	// sends, over other connections, after the next call with 0.
	Lag func(t testing.TB) (b driver.Backend, hold func(d time.Duration))
	// Residue lists what is left in the store, except for remembered tokens.
	// Without it the suite lists the locks.
	Residue func() []string
	// Nemeses disturb the store while clients contend.
	Nemeses []Nemesis
}

// Nemesis is a disturbance such as a fail-over.
type Nemesis struct {
	// Name says what happens, such as "fail-over".
	Name string
	// Strike disturbs the store and returns when it is over.
	Strike func(ctx context.Context) error
	// Forgets says that the store may forget grants, and so give one twice.
	// Tokens must rise all the same.
	Forgets bool
}

// Run puts the backend through every behaviour.
func Run(t *testing.T, b Backend) {
	t.Helper()
	if b.TTL == 0 {
		b.TTL = 500 * time.Millisecond
	}
	b.checkExempt(t)
	table := newTally(b)
	t.Cleanup(func() { t.Log(table) })
	for _, behaviour := range behaviours() {
		t.Run(behaviour.name, func(t *testing.T) {
			t.Cleanup(func() { table.addResult(t, behaviour.name) })
			if !b.Shared || !behaviour.disturbs() {
				t.Parallel()
			}
			behaviour.prove(t, &b)
		})
	}
}

// publicOwner returns what others are told of an owner.
func (b *Backend) publicOwner(owner string) string {
	if b.PublicOwners {
		return driver.PublicOwner(owner)
	}
	return owner
}

// prove runs one behaviour, in virtual time if the backend allows it.
func (b *behaviour) prove(t *testing.T, backend *Backend) {
	t.Helper()
	if reason, exempt := backend.exempts(b); exempt {
		t.Skip(reason)
	}
	if backend.Virtual {
		// The bubble itself reports goroutines that are left over.
		synctest.Test(t, func(t *testing.T) { b.run(newEnv(t, backend, b)) })
		return
	}
	watchGoroutines(t, func() { b.run(newEnv(t, backend, b)) })
}
