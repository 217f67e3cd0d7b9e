package etcdlock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// TestPlaceIsKeptAsLongAsItsGrant: who waits for a lock that it wants to have for long dies. Those behind it wait for
// what it was told of its place, and not for the time of a grant, which counts once it has the lock.
func TestPlaceIsKeptAsLongAsItsGrant(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	holder := newBackend(t, client, nil)
	const wanted = 5 * time.Minute
	asks := func(name string) driver.Request {
		req := request(name, 2)
		req.Waits, req.TTL = true, wanted
		return req
	}
	for name, queues := range map[string]func(driver.Backend, driver.Request) (driver.Grant, error){
		"waits": func(b driver.Backend, req driver.Request) (driver.Grant, error) {
			return b.Acquire(contextFor(t, soon), req)
		},
		"stands": func(b driver.Backend, req driver.Request) (driver.Grant, error) {
			return b.(driver.Successor).Stand(contextFor(t, soon), req)
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := mustAcquire(t, holder, request(name, 1))
			b := newBackend(t, connect(t, m.Addr()), nil)
			b.(driver.Successor).Inherit(func(driver.Grant) {})
			for range 2 { // it asks for its place, and to keep it
				var refusal *driver.HeldError
				if _, err := queues(b, asks(name)); !errors.As(err, &refusal) || refusal.Again == 0 {
					t.Fatalf("want a place, got %v", err)
				}
				if life := lifeOfKey(t, client, name, 2); life > 2*refusal.Again {
					t.Errorf("a place that is kept for %s is kept for %s after its death", refusal.Again, life)
				}
			}
			mustRelease(t, holder, first)
			var granted driver.Grant
			eventually(t, "it is its turn", func() (ok bool) {
				var err error
				granted, err = queues(b, asks(name))
				return err == nil
			})
			if life := lifeOfKey(t, client, name, 2); life < wanted {
				t.Errorf("a grant of %s is kept for %s", wanted, life)
			}
			mustRelease(t, b, granted)
		})
	}
}

// lifeOfKey returns how long the lease was made for that keeps what an owner has of a lock.
func lifeOfKey(t *testing.T, client *clientv3.Client, name string, number int) time.Duration {
	t.Helper()
	resp, err := client.Get(contextFor(t, soon), etcdlock.DefaultPrefix+name+"/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		if strings.HasSuffix(string(kv.Key), request(name, number).Owner) {
			left, err := client.TimeToLive(contextFor(t, soon), clientv3.LeaseID(kv.Lease))
			if err != nil {
				t.Fatal(err)
			}
			return time.Duration(left.GrantedTTL) * time.Second
		}
	}
	t.Fatalf("%d has no key of %q", number, name)
	return 0
}
