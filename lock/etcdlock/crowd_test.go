package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// requestIn asks for a lock of a minute in a mode.
func requestIn(mode driver.Mode, name string, number int) driver.Request {
	req := request(name, number)
	if req.Mode = mode; mode == driver.Permit {
		req.Permits, req.Limit = 1, 3
	}
	return req
}

// TestRequestsOfReadersAndWriters counts what goes over the wire: readers do not see each other at all, and who waits
// is in one request when it is its turn.
func TestRequestsOfReadersAndWriters(t *testing.T) {
	t.Parallel()
	m, _ := oneServer(t)
	wire := &counted{}
	b := newBackend(t, connectCounted(t, wire, m.Addr()), nil)
	mustRelease(t, b, mustAcquire(t, b, request("warm", 1)))
	costs := func(what string, want int, step func()) {
		t.Helper()
		before := wire.of("Txn")
		step()
		if got := wire.of("Txn") - before; got != want {
			t.Errorf("%s: %d requests, want %d", what, got, want)
		}
	}
	var one, two, writer, permit driver.Grant
	costs("the first reader", 1, func() { one = mustAcquire(t, b, requestIn(driver.Shared, "a", 1)) })
	costs("the second reader", 1, func() { two = mustAcquire(t, b, requestIn(driver.Shared, "a", 2)) })
	waiting := requestIn(driver.Write, "a", 3)
	costs("a writer that is refused", 1, func() { wantRefused(t, b, waiting) })
	waiting.Waits = true
	costs("a writer that waits", 2, func() { wantRefused(t, b, waiting) })
	costs("a reader that is refused", 1, func() { wantRefused(t, b, requestIn(driver.Shared, "a", 4)) })
	w, err := b.(driver.Waiter).Watch(contextFor(t, soon), "a", driver.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	drain(w)
	costs("releases", 2, func() {
		mustRelease(t, b, one)
		mustRelease(t, b, two)
	})
	<-w.C()
	costs("the writer, when it is told", 1, func() { writer = mustAcquire(t, b, waiting) })
	mustRelease(t, b, writer)
	costs("a permit", 1, func() { permit = mustAcquire(t, b, requestIn(driver.Permit, "p", 1)) })
	costs("the next permit, and its release", 3, func() {
		mustRelease(t, b, mustAcquire(t, b, requestIn(driver.Permit, "p", 2)))
	})
	mustRelease(t, b, permit)
}

// drain takes what a watch has said since it began: to ask once more.
func drain(w driver.Watch) {
	for {
		select {
		case <-w.C():
		default:
			return
		}
	}
}

// wantRefused checks that somebody else has a lock.
func wantRefused(t *testing.T, b driver.Backend, req driver.Request) *driver.HeldError {
	t.Helper()
	g, err := b.Acquire(contextFor(t, soon), req)
	refusal, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatalf("%+v: %+v, %v; want a *driver.HeldError", req, g, err)
	}
	return refusal
}

// TestReleaseWakesWhoMustWait: of three processes that wait to write only the first one is told.
func TestReleaseWakesWhoMustWait(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	holder := newBackend(t, client, nil)
	held := mustAcquire(t, holder, requestIn(driver.Write, "a", 0))
	var all []driver.Backend
	var watches []driver.Watch
	var reqs []driver.Request
	var before []uint64
	for i := range 3 {
		b := newBackend(t, connect(t, m.Addr()), nil)
		req := requestIn(driver.Write, "a", i+1)
		req.Waits = true
		w, err := b.(driver.Waiter).Watch(contextFor(t, soon), "a", driver.ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Close)
		wantRefused(t, b, req)
		drain(w)
		before = append(before, w.Count())
		all, watches, reqs = append(all, b), append(watches, w), append(reqs, req)
	}
	mustRelease(t, holder, held)
	for i, b := range all {
		select {
		case <-watches[i].C():
		case <-time.After(soon):
			t.Fatalf("number %d is not told", i)
		}
		for j := i + 1; j < len(all); j++ {
			if n := watches[j].Count() - before[j]; n != 0 {
				t.Errorf("number %d is told %d times before it is its turn", j, n)
			}
		}
		mustRelease(t, b, mustAcquire(t, b, reqs[i]))
	}
}

// TestKindsMeetInARace: who asks for a name as a mutex, stands in its line, asks for it as a read-write lock, as
// permits or as a latch, at the same time: the name is of one kind at a time.
func TestKindsMeetInARace(t *testing.T) {
	t.Parallel()
	m, _ := oneServer(t)
	ctx := contextFor(t, time.Minute)
	var inside [4]atomic.Int32
	var all sync.WaitGroup
	for i := range 6 {
		locks := newLocks(t, connect(t, m.Addr()), nil)
		kinds := []lock.Lockable{
			locks.Mutex("a", nil), locks.RWMutex("a", nil).Reader(), locks.RWMutex("a", nil).Writer(),
			locks.Semaphore("a", 2, nil),
		}
		all.Go(func() {
			for n := range 40 {
				kind := (i + n) % len(kinds)
				lease, err := kinds[kind].Lock(ctx)
				if errors.Is(err, lock.ErrKind) {
					continue
				}
				if err != nil {
					t.Errorf("lock: %v", err)
					return
				}
				inside[kind].Add(1)
				got := []int32{inside[0].Load(), inside[1].Load(), inside[2].Load(), inside[3].Load()}
				if got[0] > 0 && got[1]+got[2]+got[3] > 0 || got[3] > 0 && got[1]+got[2] > 0 ||
					got[2] > 0 && got[1] > 0 {
					t.Errorf("inside are %d of a mutex, %d who read, %d who write, and %d with permits",
						got[0], got[1], got[2], got[3])
				}
				inside[kind].Add(-1)
				if err := lease.Unlock(ctx); err != nil {
					t.Errorf("unlock: %v", err)
				}
			}
		})
	}
	all.Wait()
}

// TestStanderHasALockOfAnotherKind: who asks for a mutex in a way that would give it a place in line has none where
// somebody reads. The reader's release would give it a lock that others have asked for as another kind since.
func TestStanderHasALockOfAnotherKind(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	b.(driver.Successor).Inherit(func(g driver.Grant) { t.Errorf("granted unasked: %+v", g) })
	reader := mustAcquire(t, b, requestIn(driver.Shared, "a", 1))
	for number, ask := range []func(context.Context, driver.Request) (driver.Grant, error){
		b.Acquire, b.(driver.Successor).Stand,
	} {
		req := request("a", 10+number)
		req.Waits = number == 0
		if g, err := ask(contextFor(t, soon), req); !errors.Is(err, driver.ErrKind) {
			t.Errorf("%+v, %v; want ErrKind", g, err)
		}
	}
	if keys := keysOf(t, client, etcdlock.DefaultPrefix); len(keys) != 1 {
		t.Errorf("keys %q, want the reader's alone", keys)
	}
	mustRelease(t, b, reader)
}

// TestWaiterDies: the place of a process that is gone keeps nobody off for longer than it would be kept without asking
// again, and a second or two.
func TestWaiterDies(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	b := newBackend(t, client, nil)
	reader := mustAcquire(t, b, requestIn(driver.Shared, "a", 1))
	dies := connect(t, m.Addr())
	waiting := requestIn(driver.Write, "a", 2)
	waiting.Waits = true
	wantRefused(t, newBackend(t, dies, nil), waiting)
	if refusal := wantRefused(t, b, requestIn(driver.Shared, "a", 3)); !refusal.Waits {
		t.Errorf("kept for a writer, but told is %v", refusal)
	}
	if err := dies.Close(); err != nil {
		t.Fatal(err)
	}
	late := requestIn(driver.Shared, "a", 4)
	eventually(t, "readers may come again", func() bool {
		g, err := b.Acquire(contextFor(t, soon), late)
		if err == nil {
			mustRelease(t, b, g)
		}
		return err == nil
	})
	mustRelease(t, b, reader)
}

// TestWhatACallWasToldEnds: answers are kept by a lease that is not prolonged, and the latch by none.
func TestWhatACallWasToldEnds(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil).(driver.Latches)
	for i := range 3 {
		if _, err := b.SetLatch(contextFor(t, soon), "a", fmt.Sprint("id/", i), 3); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := client.Get(contextFor(t, soon), etcdlock.DefaultPrefix, clientv3.WithPrefix())
	if err != nil || len(resp.Kvs) != 4 {
		t.Fatalf("%+v, %v; want a latch and three answers", resp, err)
	}
	leases := make(map[int64]bool)
	for _, kv := range resp.Kvs {
		if answer := strings.Contains(string(kv.Key), "answers"); answer != (kv.Lease != 0) {
			t.Errorf("%s has lease %x", kv.Key, kv.Lease)
		}
		leases[kv.Lease] = true
	}
	if len(leases) != 2 {
		t.Errorf("%d leases of one latch and three answers", len(leases)-1)
	}
	if _, err := client.Revoke(contextFor(t, soon), clientv3.LeaseID(leaseOfAnswers(resp))); err != nil {
		t.Fatal(err)
	}
	if left, err := b.CountDown(contextFor(t, soon), "a", "later", 3); err != nil || left != 0 {
		t.Errorf("by a lease that was ended: %d, %v", left, err)
	}
}

// leaseOfAnswers returns the lease of the answers.
func leaseOfAnswers(resp *clientv3.GetResponse) (lease int64) {
	for _, kv := range resp.Kvs {
		lease = max(lease, kv.Lease)
	}
	return lease
}

// TestSeveralInOneRequest: as many locks as can be asked for at once are one request, and one lease.
func TestSeveralInOneRequest(t *testing.T) {
	t.Parallel()
	m, _ := oneServer(t)
	wire := &counted{}
	b := newBackend(t, connectCounted(t, wire, m.Addr()), nil)
	mustRelease(t, b, mustAcquire(t, b, request("warm", 1)))
	var reqs []driver.Request
	for i := range driver.MaxBundle {
		reqs = append(reqs, request(fmt.Sprint("a", i), i))
	}
	before := wire.all()
	grants, err := b.(driver.Bundler).AcquireAll(contextFor(t, soon), reqs)
	if n := wire.all() - before; err != nil || n != 1 {
		t.Fatalf("%d requests, %v", n, err)
	}
	again, err := b.(driver.Bundler).AcquireAll(contextFor(t, soon), reqs)
	if err != nil || again[3].Token != grants[3].Token {
		t.Errorf("asked again: %v", err)
	}
	for _, g := range grants {
		mustRelease(t, b, g)
	}
}

// TestOfficialClientsHaveMutexesAlone: the profile that is shared with them refuses all else, and leaves nothing.
func TestOfficialClientsHaveMutexesAlone(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, compatible())
	for _, mode := range []driver.Mode{driver.Shared, driver.Write, driver.Permit} {
		g, err := b.Acquire(contextFor(t, soon), requestIn(mode, "a", 1))
		if !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%s: %+v, %v", mode, g, err)
		}
	}
	ctx := contextFor(t, soon)
	_, set := b.(driver.Latches).SetLatch(ctx, "a", "id", 1)
	_, read := b.(driver.Latches).LatchCount(ctx, "a")
	_, watched := b.(driver.Waiter).Watch(ctx, "a", driver.Latch)
	for _, err := range []error{set, read, watched} {
		if !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("a latch: %v", err)
		}
	}
	if keys := keysOf(t, client, ""); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
}
