package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// ofEachMode are requests for locks that several may have at once.
func ofEachMode(number int) (reqs []driver.Request) {
	for i, mode := range []driver.Mode{driver.Shared, driver.Write, driver.Permit} {
		reqs = append(reqs, requestIn(mode, fmt.Sprint("a", i), number))
	}
	return reqs
}

// loseReply makes a call whose request arrives, and whose answer does not.
func loseReply(t *testing.T, between *chaos.Proxy, call func(context.Context) error, arrived func() bool) {
	t.Helper()
	between.BlackHole(chaos.Replies)
	answer := make(chan error, 1)
	ctx := contextFor(t, soon)
	go func() { answer <- call(ctx) }()
	eventually(t, "the request arrives", arrived)
	between.Cut()
	between.Heal()
	if err := <-answer; err == nil || errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrRefused) {
		t.Errorf("want an error of no class, got %v", err)
	}
}

// TestCrowdLosesReplies: who asks again has what it was granted, with the same tokens, and who releases again succeeds.
func TestCrowdLosesReplies(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	between := proxyTo(t, m.Addr())
	b := newBackend(t, connect(t, between.Addr()), nil)
	mustRelease(t, b, mustAcquire(t, b, request("warm", 1)))
	keys := func() int { return len(keysOf(t, client, etcdlock.DefaultPrefix)) }
	again := func(what string, call func() error) {
		t.Helper()
		eventually(t, "connected anew", func() bool {
			err := call()
			if err != nil && !errors.Is(err, driver.ErrUnavailable) {
				t.Fatalf("%s again: %v", what, err)
			}
			return err == nil
		})
	}
	for _, req := range ofEachMode(2) {
		acquire := func(ctx context.Context) error {
			_, err := b.Acquire(ctx, req)
			return err
		}
		loseReply(t, between, acquire, func() bool { return keys() == 1 })
		var g driver.Grant
		again("acquired", func() (err error) {
			g, err = b.Acquire(contextFor(t, soon), req)
			return err
		})
		resp, err := client.Get(contextFor(t, soon), etcdlock.DefaultPrefix, clientv3.WithPrefix())
		if err != nil || len(resp.Kvs) != 1 || g.Token != uint64(resp.Kvs[0].CreateRevision)<<20 {
			t.Errorf("%s: token %d of %+v, %v", req.Mode, g.Token, resp, err)
		}
		release := func(ctx context.Context) error {
			_, err := b.Release(ctx, g)
			return err
		}
		loseReply(t, between, release, func() bool { return keys() == 0 })
		again("released", func() error { return release(contextFor(t, soon)) })
	}
}

// TestCrowdLosesItsLease: somebody ends the lease. All that was kept by it is lost, and had by others.
func TestCrowdLosesItsLease(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	var grants []driver.Grant
	for _, req := range ofEachMode(1) {
		grants = append(grants, mustAcquire(t, b, req))
	}
	leases, err := client.Leases(contextFor(t, soon))
	if err != nil || len(leases.Leases) != 1 {
		t.Fatalf("leases %+v, %v; want one of all locks", leases, err)
	}
	if _, err := client.Revoke(contextFor(t, soon), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	for i, err := range b.Renew(contextFor(t, soon), grants) {
		if !errors.Is(err, driver.ErrLost) {
			t.Errorf("renewal in mode %s: %v", grants[i].Mode, err)
		}
	}
	for i, req := range ofEachMode(2) {
		g := mustAcquire(t, b, req)
		if g.Token <= grants[i].Token {
			t.Errorf("mode %s: token %d after %d", req.Mode, g.Token, grants[i].Token)
		}
		mustRelease(t, b, g)
	}
}

// TestCompactionHidesAWriter: what a reader has missed while it was cut off is not there any more to be read.
func TestCompactionHidesAWriter(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	between := proxyTo(t, m.Addr())
	b := newBackend(t, client, nil)
	held := mustAcquire(t, b, requestIn(driver.Write, "a", 1))
	locks := newLocks(t, connect(t, between.Addr()), nil)
	got := make(chan error, 1)
	go func() {
		lease, err := locks.RWMutex("a", nil).RLock(contextFor(t, soon))
		if err == nil {
			err = lease.Unlock(contextFor(t, soon))
		}
		got <- err
	}()
	eventually(t, "a reader waits", func() bool { return len(keysOf(t, client, etcdlock.DefaultPrefix)) == 2 })
	between.BlackHole(chaos.Replies)
	mustRelease(t, b, held)
	resp, err := client.Put(contextFor(t, soon), "other", "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(contextFor(t, soon), resp.Header.Revision); err != nil {
		t.Fatal(err)
	}
	between.Cut()
	between.Heal()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// TestPlaceOutlivesItsKind: a reader waits, and is told that the name is that of a semaphore by now. Nobody gives its
// place back, which would keep writers off.
func TestPlaceOutlivesItsKind(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	held := mustAcquire(t, b, requestIn(driver.Write, "a", 1))
	reader := requestIn(driver.Shared, "a", 2)
	reader.Waits = true
	wantRefused(t, b, reader)
	mustRelease(t, b, held)
	permit := mustAcquire(t, b, requestIn(driver.Permit, "a", 3))
	if g, err := b.Acquire(contextFor(t, soon), reader); !errors.Is(err, driver.ErrKind) {
		t.Errorf("%+v, %v; want ErrKind", g, err)
	}
	refused := time.Now()
	eventually(t, "its place is gone", func() bool {
		return len(keysOf(t, client, etcdlock.DefaultPrefix)) == 1
	})
	if took := time.Since(refused); took > 4*time.Second { // its lease lives for six
		t.Errorf("its place is gone after %s", took)
	}
	mustRelease(t, b, permit)
	mustRelease(t, b, mustAcquire(t, b, requestIn(driver.Write, "a", 4)))
}
