package zklock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// TestCandidateHasNoPlaceInTheLine: a LeaderLatch of Curator leads, one of ours campaigns, and another one of Curator
// comes after that. Theirs is the next to lead only after ours.
func TestCandidateHasNoPlaceInTheLine(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	locks := connect(t, &zklock.Options{Profile: zklock.CuratorLatch}, server.Addr())
	java, race := raw(t, server), election.New(locks, "race", nil)
	term, err := race.Campaign(ctxFor(t)) // makes the folder
	if err != nil || term.Resign(ctxFor(t)) != nil {
		t.Fatal(err)
	}
	first := enterLine(t, java, "/bedrock/lock/race", "latch", 1)
	led := make(chan error, 1)
	go func() {
		term, err := race.Campaign(ctxFor(t))
		if err == nil {
			err = term.Resign(ctxFor(t))
		}
		led <- err
	}()
	untilInLine(t, java, "/bedrock/lock/race", 2)
	enterLine(t, java, "/bedrock/lock/race", "latch", 2)
	if err := java.Delete(first, -1); err != nil {
		t.Fatal(err)
	}
	if err := <-led; err != nil {
		t.Errorf("who came first never leads: %v", err)
	}
}

// TestWaiterWhoAsksHasNoPlace: a lease with a least or a longest life, as that of a term, or with one of its own is not
// granted unasked. Who waits for it stands in the line of all the same, for as long as it waits.
func TestWaiterWhoAsksHasNoPlace(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	for word, profile := range map[string]zklock.Profile{"lock": zklock.Escaped, "latch": zklock.CuratorLatch} {
		locks := connect(t, &zklock.Options{Profile: profile}, server.Addr())
		for wanted, opts := range map[string]*lock.MutexOptions{
			"term": {MinHold: time.Millisecond}, "longest": {MaxHold: time.Minute}, "fixed": {Fixed: true},
		} {
			name := word + "-" + wanted
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				takeAndRelease(t, locks, name) // its folder is there
				standsBetween(t, raw(t, server), "/bedrock/lock/"+name, word, locks.Mutex(name, opts))
			})
		}
	}
}

// TestWaiterLosesItsPlaceToWhoStands: of one client a candidate waits, and then a plain mutex stands behind others.
func TestWaiterLosesItsPlaceToWhoStands(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	a, b := open(t, nil, server.Addr()), open(t, nil, server.Addr())
	a.(driver.Successor).Inherit(func(driver.Grant) {})
	held := mustAcquire(t, b, request("a", "me:0"))
	first, second := request("a", "me:1"), request("a", "me:2")
	first.Waits, second.Waits = true, true
	mustBeHeld(t, a, first)
	mustBeHeld(t, b, second)
	if _, err := a.(driver.Successor).Stand(ctxFor(t), request("a", "me:3")); !errors.Is(err, driver.ErrHeld) {
		t.Fatal(err)
	}
	mustRelease(t, b, held)
	mustBeHeld(t, b, second)
	mustRelease(t, a, mustAcquire(t, a, first))
	mustRelease(t, b, mustAcquire(t, b, second))
}

// standsBetween has somebody else hold a lock, and others wait for it: one that gives up, one that goes on for longer
// than its place is kept unasked, and somebody else behind it.
func standsBetween(t *testing.T, other *zk.Conn, folder, word string, m *lock.Mutex) {
	t.Helper()
	first := enterLine(t, other, folder, word, 1)
	ctx, giveUp := context.WithCancel(ctxFor(t))
	defer giveUp()
	left := lockLater(ctx, m)
	untilInLine(t, other, folder, 2)
	giveUp()
	if won := <-left; !errors.Is(won.err, context.Canceled) {
		t.Fatalf("who has given up: %v", won.err)
	}
	untilInLine(t, other, folder, 1)

	waits := lockLater(ctxFor(t), m)
	untilInLine(t, other, folder, 2)
	before := contenders(t, other, folder)
	second := enterLine(t, other, folder, word, 2)
	<-time.After(6 * time.Second)
	if now := contenders(t, other, folder); len(now) != 3 || !slices.Contains(now, before[0]) ||
		!slices.Contains(now, before[1]) {
		t.Errorf("three stand, two of which are %q: %q", before, now)
	}
	if err := other.Delete(first, -1); err != nil {
		t.Fatal(err)
	}
	won := <-waits
	if won.err != nil {
		t.Fatalf("who came first: %v", won.err)
	}
	if err := won.lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
	if err := other.Delete(second, -1); err != nil {
		t.Error(err)
	}
}

// enterLine has somebody else enter the line of a lock.
func enterLine(t *testing.T, other *zk.Conn, folder, word string, number int) string {
	t.Helper()
	node, err := other.Create(fmt.Sprintf("%s/_c_82bd6e63-2e6c-475c-b517-9f24b94791f%d-%s-", folder, number, word),
		[]byte("other"), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// untilInLine waits until so many stand in the line of a lock.
func untilInLine(t *testing.T, other *zk.Conn, folder string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d in line", n), func() bool { return len(contenders(t, other, folder)) == n })
}

// lockOutcome is what has become of a Lock.
type lockOutcome struct {
	lease *lock.Lease
	err   error
}

// lockLater locks in the background.
func lockLater(ctx context.Context, m *lock.Mutex) <-chan lockOutcome {
	won := make(chan lockOutcome, 1)
	go func() {
		lease, err := m.Lock(ctx)
		won <- lockOutcome{lease, err}
	}()
	return won
}
