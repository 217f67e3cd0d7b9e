package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// connectThrough returns a client whose requests go through something.
func connectThrough(t *testing.T, addr string, unary grpc.UnaryClientInterceptor) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{addr}, DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(unary)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// compacting is a client of which the second request of something comes after a compaction.
func compacting(t *testing.T, addr string, plain *clientv3.Client) *clientv3.Client {
	t.Helper()
	var done atomic.Bool
	return connectThrough(t, addr, func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		r, ok := req.(*etcdserverpb.RangeRequest)
		if ok && r.RangeEnd != nil && done.CompareAndSwap(false, r.Revision > 0) {
			compactNow(t, plain)
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	})
}

// compactNow forgets all revisions but the newest.
func compactNow(t *testing.T, client *clientv3.Client) {
	resp, err := client.Put(contextFor(t, soon), "something", "else")
	if err == nil {
		_, err = client.Compact(contextFor(t, soon), resp.Header.Revision)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestCompactionLeavesAPlace: the store is compacted between the two requests of who wants a lock, in whose folder
// there are keys of others first.
func TestCompactionLeavesAPlace(t *testing.T) {
	t.Parallel()
	m, plain := oneServer(t)
	locks, others := newLocks(t, compacting(t, m.Addr(), plain), compatible()), newLocks(t, plain, compatible())
	for i := range 3 {
		defer mustUnlock(t, mustLock(t, others, fmt.Sprintf("job/%d", i)))
	}
	mustUnlock(t, mustLock(t, locks, "job"))
	mustUnlock(t, mustLock(t, others, "job"))
}

// TestErrorOfTheSecondRequestLeavesAPlace: it does not say that nothing has happened.
func TestErrorOfTheSecondRequestLeavesAPlace(t *testing.T) {
	t.Parallel()
	m, plain := oneServer(t)
	b := newBackend(t, connectThrough(t, m.Addr(), func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		if _, ok := req.(*etcdserverpb.RangeRequest); ok {
			return rpctypes.ErrGRPCNoLeader
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}), compatible())
	others := newBackend(t, plain, compatible())
	for i := range 3 {
		mustAcquire(t, others, request(fmt.Sprintf("job/%d", i), i))
	}
	req := request("job", 9)
	req.Waits = true
	_, err := b.Acquire(contextFor(t, soon), req)
	if !errors.Is(err, rpctypes.ErrNoLeader) || errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("a place was taken, and the error is %v", err)
	}
}

// TestLateCopyOfARequestKeepsALock: a request has no answer, is given up, and comes to the store after the release that
// follows. Nobody knows of its key, and the client has another lock by the same lease, which it renews.
func TestLateCopyOfARequestKeepsALock(t *testing.T) {
	t.Parallel()
	m, plain := oneServer(t)
	late := make(chan func() error, 1)
	b := newBackend(t, connectThrough(t, m.Addr(), func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		if txn, ok := req.(*etcdserverpb.TxnRequest); ok && strings.Contains(txn.String(), "job") && len(late) == 0 {
			late <- func() error {
				return invoke(contextFor(t, soon), method, req, &etcdserverpb.TxnResponse{}, cc)
			}
			return status.Error(codes.Unavailable, "error reading from server: EOF")
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}), nil)
	brief := func(name string, number int) driver.Request {
		req := request(name, number)
		req.TTL = time.Second
		return req
	}
	kept := mustAcquire(t, b, brief("another", 1))
	req := brief("job", 2)
	if g, err := b.Acquire(contextFor(t, soon), req); err == nil {
		t.Fatalf("granted is %+v", g)
	}
	if _, err := b.Release(contextFor(t, soon), req.Ungranted()); !errors.Is(err, driver.ErrLost) {
		t.Fatal(err)
	}
	if err := (<-late)(); err != nil {
		t.Fatal(err)
	}
	late <- nil // no more
	others := newBackend(t, plain, nil)
	wantHeld(t, others, "job")
	eventually(t, "nobody has the lock", func() bool {
		if err := b.Renew(contextFor(t, soon), []driver.Grant{kept})[0]; err != nil {
			t.Fatal(err)
		}
		_, err := others.Acquire(contextFor(t, soon), request("job", 3))
		return err == nil
	})
}

// TestOthersAreQuickerAtASemaphore: whenever somebody asks for a permit, and nearly all are free, another one comes.
func TestOthersAreQuickerAtASemaphore(t *testing.T) {
	t.Parallel()
	m, plain := oneServer(t)
	others := newBackend(t, plain, nil)
	permit := func(number int) driver.Request {
		req := request("s", number)
		req.Mode, req.Permits, req.Limit = driver.Permit, 1, 1000
		return req
	}
	var quicker atomic.Int32
	b := newBackend(t, connectThrough(t, m.Addr(), func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		if _, ok := req.(*etcdserverpb.TxnRequest); ok && quicker.Load() < 30 {
			mustAcquire(t, others, permit(int(quicker.Add(1))))
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}), nil)
	mustRelease(t, b, mustAcquire(t, b, permit(100)))
}

// TestNoteBesideWhoWaits: there is no grant beside which it would stand.
func TestNoteBesideWhoWaits(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, nil)
	mustAcquire(t, b, request("a", 1))
	req := request("a", 2)
	req.Waits = true
	if g, err := b.Acquire(contextFor(t, soon), req); err == nil {
		t.Fatalf("granted is %+v", g)
	}
	err := b.(driver.Annotator).Annotate(contextFor(t, soon), req.Ungranted(), "{}")
	if !errors.Is(err, driver.ErrLost) {
		t.Errorf("a note beside who waits: %v", err)
	}
}

// TestServerAllowsFewOperations: more locks are renewed than it takes comparisons in one request.
func TestServerAllowsFewOperations(t *testing.T) {
	t.Parallel()
	m := testenv.StartEtcd(t, &testenv.EtcdOptions{Args: []string{"--max-txn-ops=16"}}).Members[0]
	b := newBackend(t, connect(t, m.Addr()), nil)
	var grants []driver.Grant
	for i := range 20 {
		grants = append(grants, mustAcquire(t, b, request(fmt.Sprint(i), i)))
	}
	for _, err := range b.Renew(contextFor(t, soon), grants) {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestCompactionCutsAListOff: there are more locks than are read at once, and revisions are compacted meanwhile.
func TestCompactionCutsAListOff(t *testing.T) {
	t.Parallel()
	m, plain := oneServer(t)
	b := newBackend(t, compacting(t, m.Addr(), plain), nil)
	mustAcquire(t, b, request("z", 1))
	for i := range 11 {
		var puts []clientv3.Op
		for j := range 100 {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("%sa/%d-%d", etcdlock.DefaultPrefix, i, j), ""))
		}
		if _, err := plain.Txn(contextFor(t, soon)).Then(puts...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := b.(driver.Inspector).List(contextFor(t, soon), "", 10)
	if err != nil || len(infos) == 0 || infos[len(infos)-1].Name != "z" {
		t.Errorf("listed are %+v, %v", infos, err)
	}
}
