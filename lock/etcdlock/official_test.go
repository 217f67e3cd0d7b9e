package etcdlock_test

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// session returns one of the official client.
func session(t *testing.T, client *clientv3.Client) *concurrency.Session {
	t.Helper()
	s, err := concurrency.NewSession(client, concurrency.WithTTL(10))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestOfficialMutexMeetsUs: who has a lock by the official mutex keeps us out, and is kept out by us.
func TestOfficialMutexMeetsUs(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, compatible())
	m := concurrency.NewMutex(session(t, client), "job")
	if err := m.Lock(contextFor(t, soon)); err != nil {
		t.Fatal(err)
	}
	if refusal := wantHeld(t, b, "job"); !strings.HasSuffix(m.Key(), "/"+refusal.Owner) {
		t.Errorf("held by %q, the key is %q", refusal.Owner, m.Key())
	}
	if err := m.Unlock(contextFor(t, soon)); err != nil {
		t.Fatal(err)
	}
	g := mustAcquire(t, b, request("job", 1))
	if err := m.TryLock(contextFor(t, soon)); !errors.Is(err, concurrency.ErrLocked) {
		t.Errorf("while we have it: %v", err)
	}
	mustRelease(t, b, g)
	if err := m.TryLock(contextFor(t, soon)); err != nil {
		t.Errorf("when it is free: %v", err)
	}
}

// TestWeStarveBehindOfficialWaiters: there is always one of them who waits. We have a place among them.
func TestWeStarveBehindOfficialWaiters(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	locks := newLocks(t, connect(t, m.Addr()), compatible())
	ctx, cancel := context.WithCancel(contextFor(t, time.Minute))
	defer cancel()
	ended := make(chan struct{})
	for range 2 {
		mutex := concurrency.NewMutex(session(t, client), "job")
		go func() {
			defer func() { ended <- struct{}{} }()
			for mutex.Lock(ctx) == nil {
				if mutex.Unlock(context.WithoutCancel(ctx)) != nil {
					return
				}
			}
		}()
	}
	for range 20 {
		mustUnlock(t, mustLock(t, locks, "job"))
	}
	cancel()
	<-ended
	<-ended
}

// TestTokenOfAQueuedKeyGoesBack: an official holder has as its revision that at which it was granted the lock. Ours
// are higher though our key was made before.
func TestTokenOfAQueuedKeyGoesBack(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	locks := newLocks(t, connect(t, m.Addr()), compatible())
	b := newBackend(t, client, compatible())
	for _, unasked := range []bool{true, false} {
		held := mustAcquire(t, b, request("job", 1))
		official := concurrency.NewMutex(session(t, client), "job")
		granted := make(chan error, 1)
		go func() { granted <- official.Lock(contextFor(t, soon)) }()
		eventually(t, "the official one waits", func() bool { return len(keysOf(t, client, "job/")) == 2 })
		got := make(chan *lock.Lease, 1)
		go func() {
			lease, _ := locks.Mutex("job", &lock.MutexOptions{Fixed: !unasked}).Lock(contextFor(t, soon))
			got <- lease
		}()
		eventually(t, "we wait", func() bool { return len(keysOf(t, client, "job/")) == 3 })
		if _, err := client.Put(contextFor(t, soon), "other", "raises the revision"); err != nil {
			t.Fatal(err)
		}
		mustRelease(t, b, held)
		if err := <-granted; err != nil {
			t.Fatal(err)
		}
		theirs := uint64(official.Header().Revision) << 20
		if err := official.Unlock(contextFor(t, soon)); err != nil {
			t.Fatal(err)
		}
		lease := <-got
		if lease == nil || lease.Token() <= theirs || theirs <= held.Token {
			t.Fatalf("tokens %d, %d and then of %+v", held.Token, theirs, lease)
		}
		mustUnlock(t, lease)
	}
}

// TestOneSessionHasALockTwice: two mutexes of one session of the official client both have it. Two goroutines of one
// client of ours, by one lease, do not.
func TestOneSessionHasALockTwice(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	locks := newLocks(t, client, compatible())
	lease := mustLock(t, locks, "job")
	if _, err := locks.Mutex("job", nil).TryLock(contextFor(t, soon)); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("a second one: %v", err)
	}
	b := newBackend(t, client, compatible())
	g := mustAcquire(t, b, request("other", 1))
	wantHeld(t, b, "other")
	mustRelease(t, b, g)
	mustUnlock(t, lease)
}

// TestNamesThatArePathsMeet: who has job/1 keeps the official mutex out of job. It does not keep us out, in neither
// profile, and who has job keeps nobody out of job/1.
func TestNamesThatArePathsMeet(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	for _, b := range []driver.Backend{newBackend(t, client, compatible()), newBackend(t, client, nil)} {
		names := []string{"job/1", "job", "job/1/", "job//", "job/", "job%2F1", "job%", "/job", "job/bedrock-client:1"}
		var grants []driver.Grant
		for _, name := range names {
			grants = append(grants, mustAcquire(t, b, request(name, 1)))
		}
		for _, name := range names {
			if refusal := wantHeld(t, b, name); refusal.Owner != "client:1" {
				t.Errorf("%q is held by %q", name, refusal.Owner)
			}
		}
		for _, g := range grants {
			mustRelease(t, b, g)
			mustRelease(t, b, mustAcquire(t, b, request(g.Name, 2)))
		}
	}
	if left := keysOf(t, client, ""); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestFolderIsFullOfOthers: many keys of other locks are in the range of ours, and are older; and some come
// meanwhile.
func TestFolderIsFullOfOthers(t *testing.T) {
	t.Parallel()
	_, client := oneServer(t)
	b := newBackend(t, client, compatible())
	var others []driver.Grant
	for i := range 10 {
		others = append(others, mustAcquire(t, b, request("job/"+strconv.Itoa(i), i)))
	}
	g := mustAcquire(t, b, request("job", 1))
	if refusal := wantHeld(t, b, "job"); refusal.Owner != g.Owner {
		t.Errorf("held by %q", refusal.Owner)
	}
	official := concurrency.NewMutex(session(t, client), "job")
	if err := official.TryLock(contextFor(t, soon)); !errors.Is(err, concurrency.ErrLocked) {
		t.Errorf("the official one: %v", err)
	}
	mustRelease(t, b, g)
	for _, o := range others {
		mustRelease(t, b, o)
	}
	if err := official.TryLock(contextFor(t, soon)); err != nil {
		t.Errorf("the official one, when all is free: %v", err)
	}
}

// etcdctlLock runs etcdctl lock, and returns it when it has the lock. What it runs under it lasts for a minute.
func etcdctlLock(t *testing.T, m *testenv.EtcdMember, args ...string) (cmd *exec.Cmd, has chan string) {
	t.Helper()
	bin := testenv.Program(t, "etcdctl", "package etcd-client")
	cmd = exec.Command(bin, append([]string{"--endpoints=" + m.Addr(), "lock"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	has = make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		has <- strings.TrimSpace(line)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, has
}

// TestEtcdctlMeetsUs: etcdctl lock waits for us, and we wait for it; killed, it has the lock until its lease ends.
func TestEtcdctlMeetsUs(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	locks := newLocks(t, client, compatible())
	lease := mustLock(t, locks, "job")
	cmd, has := etcdctlLock(t, m, "job", "--ttl=2")
	eventually(t, "etcdctl waits", func() bool { return len(keysOf(t, client, "job/")) == 2 })
	select {
	case key := <-has:
		t.Fatalf("etcdctl has %q beside us", key)
	default:
	}
	mustUnlock(t, lease)
	if key := <-has; !strings.HasPrefix(key, "job/") {
		t.Fatalf("etcdctl has %q", key)
	}
	if _, err := locks.Mutex("job", nil).TryLock(contextFor(t, soon)); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("beside etcdctl: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	mustUnlock(t, mustLock(t, locks, "job"))
}
