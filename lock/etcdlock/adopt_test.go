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
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// shortRequest asks for a lock that soon ends.
func shortRequest(mode driver.Mode, name string, number int) driver.Request {
	req := requestIn(mode, name, number)
	req.TTL = time.Second
	return req
}

// TestLostAnswerOfAnAdoptionLeavesALock: a grant is renewed through another client, as by another server of Bedrock,
// and the answer is lost. Whether it is renewed once more or not, that client deletes its key when its time is over: it
// may go on with the lease.
func TestLostAnswerOfAnAdoptionLeavesALock(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("renewed again %t", again), func(t *testing.T) {
			t.Parallel()
			m, client := oneServer(t)
			var lost, ended atomic.Bool
			second := newBackend(t, connectThrough(t, m.Addr(), func(ctx context.Context, method string, in, reply any,
				cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
			) error {
				err := invoke(ctx, method, in, reply, cc, opts...)
				txn, _ := in.(*etcdserverpb.TxnRequest)
				if txn != nil && lost.CompareAndSwap(false, true) {
					return status.Error(codes.Unavailable, "transport is closing")
				}
				if len(txn.GetSuccess()) > 0 && txn.Success[0].GetRequestDeleteRange() != nil {
					ended.Store(true)
				}
				return err
			}), nil)
			first := backendOn(t, nil, m.Addr())
			g := mustAcquire(t, first, shortRequest(driver.Exclusive, "a", 1))
			_ = first.Close()
			if err := second.Renew(t.Context(), []driver.Grant{g})[0]; err == nil || errors.Is(err, driver.ErrLost) {
				t.Fatalf("the answer was not lost: %v", err)
			}
			if again {
				mustRenew(t, second, g)
			}
			eventually(t, "it is ended", ended.Load)
			mustAcquire(t, newBackend(t, client, nil), request("a", 3))
		})
	}
}

// TestClientEndsWhatAnotherRenews: a grant that is renewed through another client goes on, though the time of the last
// renewal is over through the first.
func TestClientEndsWhatAnotherRenews(t *testing.T) {
	for _, mode := range []driver.Mode{driver.Exclusive, driver.Shared} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			t.Parallel()
			m, client := oneServer(t)
			first, second := backendOn(t, nil, m.Addr()), newBackend(t, client, nil)
			g := mustAcquire(t, first, shortRequest(mode, "a", 1))
			for range 10 {
				if err := waitFor(t.Context(), 200*time.Millisecond); err != nil {
					t.Fatal(err)
				}
				mustRenew(t, second, g)
			}
		})
	}
}

// TestRenewalsMeetInAnAdoption: while a client looks for a grant that it does not know, another renewal of that comes.
func TestRenewalsMeetInAnAdoption(t *testing.T) {
	t.Parallel()
	m, _ := oneServer(t)
	first := backendOn(t, nil, m.Addr())
	g := mustAcquire(t, first, request("a", 1))
	var (
		second driver.Backend
		met    atomic.Bool
	)
	second = newBackend(t, connectThrough(t, m.Addr(), func(ctx context.Context, method string, in, reply any,
		cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
	) error {
		if strings.HasSuffix(method, "/Range") && met.CompareAndSwap(false, true) {
			mustRenew(t, second, g)
		}
		return invoke(ctx, method, in, reply, cc, opts...)
	}), nil)
	mustRenew(t, second, g)
	if !met.Load() {
		t.Error("they have not met")
	}
}

// mustRenew renews a grant.
func mustRenew(t *testing.T, b driver.Backend, g driver.Grant) {
	t.Helper()
	if err := b.Renew(contextFor(t, soon), []driver.Grant{g})[0]; err != nil {
		t.Errorf("renew %q: %v", g.Name, err)
	}
}
