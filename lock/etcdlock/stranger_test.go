package etcdlock_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// mustPut writes what an application keeps in etcd.
func mustPut(t *testing.T, client *clientv3.Client, key, value string) {
	t.Helper()
	if _, err := client.Put(contextFor(t, soon), key, value); err != nil {
		t.Fatal(err)
	}
}

// mustInspect returns who has a lock, who is alone.
func mustInspect(t *testing.T, b driver.Backend, name string) driver.Holder {
	t.Helper()
	info, err := b.(driver.Inspector).Inspect(contextFor(t, soon), name)
	if err != nil || len(info.Holders) != 1 {
		t.Fatalf("%q: %+v, %v", name, info, err)
	}
	return info.Holders[0]
}

// keyOfHolder is what a lock's holder is said to have it by.
func keyOfHolder(h driver.Holder) string { return driver.DecodeMeta(h.Meta)[etcdlock.KeyOfHolder] }

// wantUnforced wants that a forced release is refused because of a key, which it names, and that nothing is deleted.
func wantUnforced(t *testing.T, client *clientv3.Client, b driver.Backend, name, key string) {
	t.Helper()
	before := keysOf(t, client, name)
	held, err := b.(driver.Forcer).ForceRelease(contextFor(t, soon), name)
	if held || !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "the key "+key+",") {
		t.Errorf("force %q: %t, %v", name, held, err)
	}
	if after := keysOf(t, client, name); len(after) != len(before) {
		t.Errorf("there were %q, and are %q", before, after)
	}
}

// mustForce takes a lock away from somebody.
func mustForce(t *testing.T, b driver.Backend, name string) {
	t.Helper()
	if held, err := b.(driver.Forcer).ForceRelease(contextFor(t, soon), name); !held || err != nil {
		t.Errorf("force %q: %t, %v", name, held, err)
	}
}

// TestKeyOfAStrangerIsPassedOver: whatever is in the folder of a lock keeps official clients out for ever. It keeps
// us out as well, who would share the lock with them else, and we say which key it is. It is deleted by nobody.
func TestKeyOfAStrangerIsPassedOver(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, compatible())
	for key, value := range map[string]string{
		"job/config": "x", "job/bedrock-%zz": "bedrock/1 held plain 1000 1", "job/bedrock-": "bedrock/1", "job/0": "",
		"job/\xff\"": "x",
	} {
		mustPut(t, client, key, value)
		shown := key
		if strings.Contains(key, "\xff") {
			shown = strconv.Quote(key)
		}
		if refusal := wantHeld(t, b, "job"); !strings.HasSuffix(key, refusal.Owner) || refusal.TTL <= 0 {
			t.Errorf("%q: held by %q for %s", key, refusal.Owner, refusal.TTL)
		}
		if h := mustInspect(t, b, "job"); h.TTL >= 0 || keyOfHolder(h) != shown {
			t.Errorf("%q: shown as %+v; want one that never ends, by its key", key, h)
		}
		wantUnforced(t, client, b, "job", shown)
		if infos, err := b.(driver.Inspector).List(contextFor(t, soon), "", 10); err != nil || len(infos) > 0 {
			t.Errorf("%q: a lock of nobody's is listed: %+v, %v", key, infos, err)
		}
		if _, err := client.Delete(contextFor(t, soon), key); err != nil {
			t.Fatal(err)
		}
	}
	mustRelease(t, b, mustAcquire(t, b, request("job", 1)))
}

// TestWhoWaitsBehindAStrangerHasTheLock: a list tells of the same holder as a look at the one lock.
func TestWhoWaitsBehindAStrangerHasTheLock(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	locks, b := newLocks(t, client, compatible()), newBackend(t, client, compatible())
	for _, key := range []string{"ours/config", "theirs/config", "theirs/other"} {
		mustPut(t, client, key, "x")
	}
	ctx, cancel := context.WithCancel(t.Context())
	theirs := concurrency.NewMutex(session(t, client), "theirs")
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := locks.Mutex("ours", nil).Lock(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("beside the key of a stranger: %v", err)
		}
	})
	waiting.Go(func() { _ = theirs.Lock(ctx) })
	defer waiting.Wait()
	defer cancel()
	for name, keys := range map[string]int{"ours": 2, "theirs": 3} {
		eventually(t, name+" is waited for", func() bool { return len(keysOf(t, client, name+"/")) == keys })
		infos, err := b.(driver.Inspector).List(contextFor(t, soon), name, 10)
		if err != nil || len(infos) != 1 || len(infos[0].Holders) != 1 {
			t.Fatalf("%q: listed are %+v, %v", name, infos, err)
		}
		if h := infos[0].Holders[0]; h.Owner != "config" || keyOfHolder(h) != name+"/config" || h.TTL >= 0 {
			t.Errorf("%q: listed as held by %+v", name, h)
		}
		if h := mustInspect(t, b, name); h.Owner != "config" {
			t.Errorf("%q: shown as held by %+v", name, h)
		}
		wantUnforced(t, client, b, name, name+"/config")
	}
}

// TestForceSparesAnOfficialMutex: whose key has a lease is a client, who is told by which it has the lock.
func TestForceSparesAnOfficialMutex(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, compatible())
	m := concurrency.NewMutex(session(t, client), "job")
	if err := m.Lock(contextFor(t, soon)); err != nil {
		t.Fatal(err)
	}
	mustPut(t, client, "job/config", "x")
	if h := mustInspect(t, b, "job"); keyOfHolder(h) != m.Key() || h.TTL <= 0 {
		t.Errorf("the official mutex is shown as %+v; its key is %q", h, m.Key())
	}
	mustForce(t, b, "job")
	wantUnforced(t, client, b, "job", "job/config") // which has the lock since
}

// TestForceDeletesWhatAStrangerLeads: in an election, too, and what candidates propose is shown as ever.
func TestForceDeletesWhatAStrangerLeads(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, &etcdlock.Options{Profile: etcdlock.Elections})
	mustPut(t, client, "job/config", "x")
	h := mustInspect(t, b, "job")
	if keyOfHolder(h) != "job/config" || driver.DecodeMeta(h.Meta)[etcdlock.ProposalKey] != "x" {
		t.Errorf("shown as %+v", h)
	}
	wantUnforced(t, client, b, "job", "job/config")
	if _, err := client.Delete(contextFor(t, soon), "job/config"); err != nil {
		t.Fatal(err)
	}
	if err := official(t, client).Campaign(contextFor(t, soon), "theirs"); err != nil {
		t.Fatal(err)
	}
	if h := mustInspect(t, b, "job"); h.Meta != "theirs" {
		t.Errorf("shown as %+v", h)
	}
	mustForce(t, b, "job")
}

// beforeTheStep returns a backend at a server, and has something happen before its first step is carried out.
func beforeTheStep(t *testing.T, m *testenv.EtcdMember, opts *etcdlock.Options, happens func()) driver.Backend {
	t.Helper()
	var once sync.Once
	return newBackend(t, connectThrough(t, m.Addr(), func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		switch req.(type) {
		case *etcdserverpb.TxnRequest, *etcdserverpb.DeleteRangeRequest:
			once.Do(happens)
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}), opts)
}

// TestKeyLosesItsLeaseBeforeItIsForced: an application makes the key of a lock its own between the look and the step.
func TestKeyLosesItsLeaseBeforeItIsForced(t *testing.T) {
	t.Parallel()
	m, plain := oneServer(t)
	lease, err := plain.Grant(contextFor(t, soon), 60)
	if err == nil {
		_, err = plain.Put(contextFor(t, soon), "job/config", "x", clientv3.WithLease(lease.ID))
	}
	if err != nil {
		t.Fatal(err)
	}
	b := beforeTheStep(t, m, compatible(), func() { mustPut(t, plain, "job/config", "y") })
	wantUnforced(t, plain, b, "job", "job/config")
}

// TestForceDeletesReadersWithoutALease: what has none is no reader, and what is no reader's stays, if it has come
// between the look and the step, too.
func TestForceDeletesReadersWithoutALease(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	readers := newBackend(t, client, nil)
	req := request("job", 1)
	req.Mode = driver.Shared
	g := mustAcquire(t, readers, req)
	folder := "bedrock/lock/job/"
	key := keysOf(t, client, folder)[0]
	resp, err := client.Get(contextFor(t, soon), key)
	if err != nil {
		t.Fatal(err)
	}
	b := beforeTheStep(t, m, nil, func() { mustPut(t, client, folder+"has-read-x", string(resp.Kvs[0].Value)) })
	held, err := b.(driver.Forcer).ForceRelease(contextFor(t, soon), "job")
	if held || !errors.Is(err, driver.ErrRefused) {
		t.Errorf("force: %t, %v", held, err)
	}
	if left := keysOf(t, client, folder); len(left) != 2 {
		t.Errorf("there are %q", left)
	}
	if _, err := client.Delete(contextFor(t, soon), folder+"has-read-x"); err != nil {
		t.Fatal(err)
	}
	b = beforeTheStep(t, m, nil, func() { mustPut(t, client, folder+"history", "x") })
	mustForce(t, b, "job")
	if left := keysOf(t, client, folder); len(left) != 1 {
		t.Errorf("there are %q", left)
	}
	if err := readers.Renew(t.Context(), []driver.Grant{g})[0]; !errors.Is(err, driver.ErrLost) {
		t.Errorf("the reader: %v", err)
	}
}
