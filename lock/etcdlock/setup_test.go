package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// soon is how long something may take that needs no lease to end.
const soon = 10 * time.Second

// oneServer starts a cluster of one member, and returns a client of it.
func oneServer(t *testing.T) (*testenv.EtcdMember, *clientv3.Client) {
	t.Helper()
	m := testenv.StartEtcd(t, nil).Members[0]
	return m, connect(t, m.Addr())
}

// contextFor bounds what a test waits for.
func contextFor(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// newLocks returns a client of locks, which is stopped at the end.
func newLocks(t *testing.T, client *clientv3.Client, opts *etcdlock.Options) *lock.Client {
	t.Helper()
	locks, err := etcdlock.New(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := locks.Stop(contextFor(t, soon)); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return locks
}

// newBackend returns a backend that is closed at the end.
func newBackend(t *testing.T, client *clientv3.Client, opts *etcdlock.Options) driver.Backend {
	t.Helper()
	b, err := etcdlock.NewBackend(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// compatible are the options of the profile that others share.
func compatible() *etcdlock.Options { return &etcdlock.Options{Profile: etcdlock.Compatible} }

// request asks for a lock of a minute.
func request(name string, number int) driver.Request {
	return driver.Request{Name: name, Owner: fmt.Sprintf("client:%d", number), TTL: time.Minute, Tokens: 1}
}

// mustAcquire takes a lock that is free.
func mustAcquire(t *testing.T, b driver.Backend, req driver.Request) driver.Grant {
	t.Helper()
	g, err := b.Acquire(contextFor(t, soon), req)
	if err != nil {
		t.Fatalf("acquire %q: %v", req.Name, err)
	}
	return g
}

// mustRelease gives a lock back.
func mustRelease(t *testing.T, b driver.Backend, g driver.Grant) {
	t.Helper()
	if _, err := b.Release(contextFor(t, soon), g); err != nil {
		t.Fatalf("release %q: %v", g.Name, err)
	}
}

// mustLock takes a lock, which may be held for a while.
func mustLock(t *testing.T, locks *lock.Client, name string) *lock.Lease {
	t.Helper()
	lease, err := locks.Mutex(name, nil).Lock(contextFor(t, soon))
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// mustUnlock gives a lock back.
func mustUnlock(t *testing.T, lease *lock.Lease) {
	t.Helper()
	if err := lease.Unlock(contextFor(t, soon)); err != nil {
		t.Fatalf("unlock: %v", err)
	}
}

// wantHeld checks that somebody else has a lock, and returns who.
func wantHeld(t *testing.T, b driver.Backend, name string) *driver.HeldError {
	t.Helper()
	g, err := b.Acquire(contextFor(t, soon), request(name, 1000))
	refusal, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatalf("%q: %+v, %v; want a *driver.HeldError", name, g, err)
	}
	return refusal
}

// keysOf returns all keys that begin with a text.
func keysOf(t *testing.T, client *clientv3.Client, prefix string) (keys []string) {
	t.Helper()
	resp, err := client.Get(contextFor(t, soon), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		keys = append(keys, string(kv.Key))
	}
	return keys
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(soon); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited %s in vain: %s", soon, what)
		}
	}
}
