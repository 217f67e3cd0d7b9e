package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// TestLeaseIsRevoked: somebody ends the lease by which all locks of a client are kept. They are lost, and it has
// others by another lease.
func TestLeaseIsRevoked(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	one, two := mustAcquire(t, b, request("a", 1)), mustAcquire(t, b, request("b", 2))
	leases, err := client.Leases(contextFor(t, soon))
	if err != nil || len(leases.Leases) != 1 {
		t.Fatalf("leases %+v, %v; want one of both locks", leases, err)
	}
	if _, err := client.Revoke(contextFor(t, soon), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	for i, err := range b.Renew(contextFor(t, soon), []driver.Grant{one, two}) {
		if !errors.Is(err, driver.ErrLost) {
			t.Errorf("renewal %d: %v", i, err)
		}
	}
	mustRelease(t, b, mustAcquire(t, b, request("a", 3)))
	if _, err := b.Release(contextFor(t, soon), two); !errors.Is(err, driver.ErrLost) {
		t.Errorf("release of what is lost: %v", err)
	}
}

// TestLeaseIsLostOnTheWay: the next request finds out by itself, whether it prolongs the lease first or not, and is
// granted by another one.
func TestLeaseIsLostOnTheWay(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	for number, later := range []time.Duration{0, 1200 * time.Millisecond} {
		req := request("a", number)
		req.TTL = time.Second
		mustRelease(t, b, mustAcquire(t, b, req))
		leases, err := client.Leases(contextFor(t, soon))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leases.Leases {
			if _, err := client.Revoke(contextFor(t, soon), l.ID); err != nil {
				t.Fatal(err)
			}
		}
		if err := waitFor(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		req.Owner = fmt.Sprintf("client:1%d", number)
		mustRelease(t, b, mustAcquire(t, b, req))
	}
}

// TestBrokenConnectionIsNoRefusal: a request that was under way when its connection broke may have been granted.
func TestBrokenConnectionIsNoRefusal(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	between := proxyTo(t, m.Addr())
	b := newBackend(t, connect(t, between.Addr()), nil)
	mustRelease(t, b, mustAcquire(t, b, request("warm", 1)))
	between.BlackHole(chaos.Replies)
	answer := make(chan error, 1)
	go func() {
		_, err := b.Acquire(contextFor(t, soon), request("job", 2))
		answer <- err
	}()
	eventually(t, "it is granted", func() bool { return len(keysOf(t, client, etcdlock.DefaultPrefix)) == 1 })
	between.Cut()
	between.Heal()
	err := <-answer
	for _, class := range []error{driver.ErrUnavailable, driver.ErrRefused, driver.ErrHeld, context.DeadlineExceeded} {
		if err == nil || errors.Is(err, class) {
			t.Errorf("want an error of no class, got %v", err)
		}
	}
	if keys := keysOf(t, client, etcdlock.DefaultPrefix); len(keys) != 1 {
		t.Errorf("keys %q", keys)
	}
	var again driver.Grant
	eventually(t, "it is connected anew", func() bool {
		again, err = b.Acquire(contextFor(t, soon), request("job", 2))
		return !errors.Is(err, driver.ErrUnavailable)
	})
	if created := createdOf(t, client, "job"); err != nil || again.Token != uint64(created)<<20 {
		t.Errorf("asked again: %+v, %v; want what was granted at revision %d", again, err, created)
	}
	mustRelease(t, b, again)
	if keys := keysOf(t, client, etcdlock.DefaultPrefix); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
}

// TestOwnerIsGrantedAnotherTokenAfterATurn: who has waited, was granted the lock, and asks again as one whose answer
// was lost, has the same tokens.
func TestOwnerIsGrantedAnotherTokenAfterATurn(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	for number, waits := range []bool{false, true} {
		held := mustAcquire(t, b, request("a", 10*number+1))
		req := request("a", 10*number+2)
		ask := b.(driver.Successor).Stand
		if req.Waits = waits; waits {
			ask = b.Acquire
		}
		b.(driver.Successor).Inherit(func(driver.Grant) {})
		if g, err := ask(contextFor(t, soon), req); err == nil {
			t.Fatalf("two have it: %+v", g)
		}
		mustRelease(t, b, held)
		first := mustAcquire(t, b, req)
		if _, err := client.Put(contextFor(t, soon), "other", "raises the revision"); err != nil {
			t.Fatal(err)
		}
		if again := mustAcquire(t, b, req); again.Token != first.Token || first.Token <= held.Token {
			t.Errorf("tokens %d, %d, %d", held.Token, first.Token, again.Token)
		}
		mustRelease(t, b, first)
	}
}

// TestCompactionHidesARelease: what a waiter has missed while it was cut off is not there any more to be read.
func TestCompactionHidesARelease(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	between := proxyTo(t, m.Addr())
	b := newBackend(t, client, nil)
	locks := newLocks(t, connect(t, between.Addr()), &etcdlock.Options{Lock: lock.Options{TTL: time.Minute}})
	held := mustAcquire(t, b, request("a", 1))
	got := make(chan *lock.Lease, 1)
	go func() {
		lease, err := locks.Mutex("a", nil).Lock(contextFor(t, time.Minute))
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	eventually(t, "it waits", func() bool { return len(keysOf(t, client, etcdlock.DefaultPrefix)) == 2 })
	eventually(t, "it hears", func() bool {
		w := locks.Backend().(driver.Resumer).Resume("a", driver.Mutex)
		if w != nil {
			w.Close()
		}
		return w != nil
	})
	if err := waitFor(t.Context(), 300*time.Millisecond); err != nil { // it has asked once more, and sleeps
		t.Fatal(err)
	}
	between.Cut()
	mustRelease(t, b, held)
	resp, err := client.Put(contextFor(t, soon), "other", "raises the revision")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(contextFor(t, soon), resp.Header.Revision); err != nil {
		t.Fatal(err)
	}
	between.Heal()
	select {
	case lease := <-got:
		mustUnlock(t, lease)
	case <-time.After(soon):
		t.Fatal("the waiter has not heard of it")
	}
}

// TestReplyIsLost: that to the request by which a key is made, and that to the one by which it is deleted.
func TestReplyIsLost(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	between := proxyTo(t, m.Addr())
	far, near := newLocks(t, connect(t, between.Addr()), nil), newLocks(t, client, nil)
	mustUnlock(t, mustLock(t, far, "warm")) // it has a lease
	between.DropRepliesTo("lock/job/bedrock-", 1)
	lease := mustLock(t, far, "job")
	if between.Evidence().RepliesLost != 1 {
		t.Errorf("%+v", between.Evidence())
	}
	if _, err := near.Mutex("job", nil).TryLock(contextFor(t, soon)); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("beside the holder: %v", err)
	}
	between.DropRepliesTo("lock/job/bedrock-", 1)
	if err := lease.Unlock(contextFor(t, soon)); err != nil && !lock.MaybeApplied(err) {
		t.Errorf("unlock: %v", err)
	}
	mustUnlock(t, mustLock(t, near, "job"))
	eventually(t, "nothing is left", func() bool { return len(keysOf(t, client, etcdlock.DefaultPrefix)) == 0 })
}

// TestNobodyListens: no server is there. That nothing has happened is certain, and said at once.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	b := newBackend(t, connect(t, "127.0.0.1:1"), nil)
	start := time.Now()
	_, err := b.Acquire(contextFor(t, soon), request("a", 1))
	if !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("want ErrUnavailable, got %v", err)
	}
	never := driver.Grant{Name: "a", Owner: "client:1", TTL: time.Minute}
	if errs := b.Renew(contextFor(t, soon), []driver.Grant{never}); errs[0] == nil {
		t.Error("renewed")
	}
	if d := time.Since(start); d > soon/2 {
		t.Errorf("it took %s", d)
	}
}

// TestDeadServerOutlastsADeadline: calls end with their contexts, whatever they are about.
func TestDeadServerOutlastsADeadline(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	b := newBackend(t, client, nil)
	g := mustAcquire(t, b, request("a", 1))
	m.Freeze()
	defer m.Thaw()
	const deadline, promptly = 100 * time.Millisecond, 200 * time.Millisecond
	for what, call := range map[string]func(ctx context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := b.Acquire(ctx, request("b", 2)); return err },
		"renew":   func(ctx context.Context) error { return b.Renew(ctx, []driver.Grant{g})[0] },
		"release": func(ctx context.Context) error { _, err := b.Release(ctx, g); return err },
		"watch": func(ctx context.Context) error {
			_, err := b.(driver.Waiter).Watch(ctx, "a", driver.Mutex)
			return err
		},
		"check":    func(ctx context.Context) error { _, err := b.(driver.Checker).Check(ctx); return err },
		"identity": func(ctx context.Context) error { _, err := b.(driver.Identifier).Identity(ctx); return err },
		"note":     func(ctx context.Context) error { return b.(driver.Annotator).Annotate(ctx, g, "x") },
		"list":     func(ctx context.Context) error { _, err := b.(driver.Inspector).List(ctx, "", 1); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		start := time.Now()
		err := call(ctx)
		cancel()
		if d := time.Since(start); err == nil || d > deadline+2*promptly {
			t.Errorf("%s: %v after %s", what, err, d)
		}
	}
}

// TestStoreIsFull: that nothing was written is certain.
func TestStoreIsFull(t *testing.T) {
	t.Parallel()
	m := startFull(t)
	client := connect(t, m.Addr())
	b := newBackend(t, client, nil)
	g := mustAcquire(t, b, request("a", 1))
	for value := strings.Repeat("x", 1<<20); ; {
		if _, err := client.Put(contextFor(t, soon), "fill", value); err != nil {
			break
		}
	}
	if _, err := b.Acquire(contextFor(t, soon), request("b", 2)); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("want ErrUnavailable, got %v", err)
	}
	if errs := b.Renew(contextFor(t, soon), []driver.Grant{g}); errs[0] != nil {
		t.Errorf("renewal: %v", errs[0])
	}
	findings, err := b.(driver.Checker).Check(contextFor(t, soon))
	if err != nil || findings[0].Level != driver.Danger || !strings.Contains(findings[0].What, "NOSPACE") ||
		findings[len(findings)-1].Level == driver.Danger {
		t.Errorf("found %+v, %v", findings, err)
	}
	mustRelease(t, b, g)
}

// TestRecordIsReadable: who may read the store sees whose the lock is, and since when, and what is noted beside.
func TestRecordIsReadable(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	req := request("orders/42", 1)
	req.Meta = `{"host":"h"}`
	g := mustAcquire(t, b, req)
	resp, err := client.Get(contextFor(t, soon), "bedrock/lock/orders%2F42/", clientv3.WithPrefix())
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("%+v, %v", resp, err)
	}
	if key := string(resp.Kvs[0].Key); key != "bedrock/lock/orders%2F42/bedrock-client:1" {
		t.Errorf("the key is %q", key)
	}
	value := string(resp.Kvs[0].Value)
	if !strings.HasPrefix(value, "bedrock/1 held plain 60000 ") || !strings.HasSuffix(value, "\n"+req.Meta) {
		t.Errorf("the value is %q", value)
	}
	if want := uint64(resp.Kvs[0].CreateRevision) << 20; g.Token != want {
		t.Errorf("the token is %d, want %d", g.Token, want)
	}
	mustRelease(t, b, g)
}

// TestManyWaitersAskAgainAndAgain: a thousand of one process have one watch, and nothing is asked while they wait.
func TestManyWaitersAskAgainAndAgain(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	calls := &counted{}
	locks := newLocks(t, connectCounted(t, calls, m.Addr()), nil)
	b := newBackend(t, client, nil)
	held := mustAcquire(t, b, request("a", 1))
	const many = 1000
	done := make(chan error, many)
	for range many {
		go func() {
			lease, err := locks.Mutex("a", nil).Lock(contextFor(t, time.Minute))
			if err == nil {
				err = lease.Unlock(contextFor(t, time.Minute))
			}
			done <- err
		}()
	}
	eventually(t, "all wait", func() bool {
		info, err := locks.Inspect(contextFor(t, soon), "a")
		listens := calls.of("Watch") == 1 && calls.of("Txn") == 2 // it has asked once more since
		return err == nil && info.Local >= many-1 && info.Waiting == 1 && listens
	})
	before := calls.all()
	if err := waitFor(t.Context(), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	if after := calls.all(); after > before+1 { // one each 12 s keeps the place
		t.Errorf("%d calls while they wait", after-before)
	}
	if n := calls.of("Watch"); n != 1 {
		t.Errorf("%d watches", n)
	}
	mustRelease(t, b, held)
	for range many {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if n := calls.of("Watch"); n != 1 {
		t.Errorf("%d watches at the end", n)
	}
}
