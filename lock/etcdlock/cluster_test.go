package etcdlock_test

import (
	"context"
	"errors"
	"runtime/pprof"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/conformance"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
	"github.com/bedrock-go/bedrock/lock/locktest"
)

// TestConformanceCluster is on three members, of which the leader is stopped, and killed.
func TestConformanceCluster(t *testing.T) {
	cluster := testenv.StartEtcd(t, &testenv.EtcdOptions{Members: 3})
	locktest.Run(t, locktest.Backend{
		Shared: true,
		Open: func(t testing.TB) locktest.Server {
			return locktest.Server{
				Connect: func(t testing.TB) driver.Backend { return backendOn(t, nil, cluster.Endpoints()...) },
				Nemeses: []locktest.Nemesis{
					{Name: "a leader that is stopped", Strike: func(ctx context.Context) error {
						leader := leaderOf(ctx, t, cluster)
						leader.Freeze()
						defer leader.Thaw()
						return waitFor(ctx, 2*time.Second)
					}},
					{Name: "a leader that is killed", Strike: func(ctx context.Context) error {
						leader := leaderOf(ctx, t, cluster)
						unlabelled(func() { leader.Restart(true) })
						return nil
					}},
				},
			}
		},
		Exempt: conformance.EtcdCluster().Exempt,
	})
}

// unlabelled runs what starts a goroutine that goes on after the behaviour: that of a process.
func unlabelled(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		pprof.SetGoroutineLabels(context.Background())
		f()
	}()
	<-done
}

// leaderOf returns the member that leads.
func leaderOf(ctx context.Context, t testing.TB, cluster *testenv.EtcdCluster) *testenv.EtcdMember {
	t.Helper()
	client := connect(t, cluster.Endpoints()...)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, m := range cluster.Members {
			if leads(ctx, client, m) {
				return m
			}
		}
		<-tick.C
	}
	t.Fatal("nobody leads")
	return nil
}

// leads reports whether a member takes itself for the leader.
func leads(ctx context.Context, client *clientv3.Client, m *testenv.EtcdMember) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	status, err := client.Status(ctx, m.Addr())
	return err == nil && status.Leader == status.Header.MemberId
}

// TestLeaderStandsStill: the leader is stopped for 5 s. A lock that is held stays so or its loss is told, never is it
// given to two while that lasts; and those who use the other members go on. When the old leader goes on it may end
// leases that the new one has kept, and does not say so: then the next token is higher, and the loss is told in time.
func TestLeaderStandsStill(t *testing.T) {
	t.Parallel()
	cluster := testenv.StartEtcd(t, &testenv.EtcdOptions{Members: 3})
	leader := leaderOf(t.Context(), t, cluster)
	var others []string
	for _, m := range cluster.Members {
		if m != leader {
			others = append(others, m.Addr())
		}
	}
	opts := &etcdlock.Options{Lock: lock.Options{TTL: 2 * time.Second}}
	behind := newLocks(t, connect(t, leader.Addr()), opts)
	rest := newLocks(t, connect(t, others...), opts)
	cutOff, kept := mustLock(t, behind, "cut off"), mustLock(t, rest, "kept")
	leader.Freeze()
	stopped := time.Now()
	taken, err := rest.Mutex("cut off", nil).Lock(contextFor(t, soon))
	if err != nil {
		t.Fatal(err)
	}
	if cutOff.Err() == nil {
		t.Error("the lock was granted to another while the holder's context went on")
	}
	if err := waitFor(t.Context(), 5*time.Second-time.Since(stopped)); err != nil {
		t.Fatal(err)
	}
	if err := kept.Err(); err != nil {
		t.Errorf("the lock held by the others: %v", err)
	}
	mustUnlock(t, kept)
	leader.Thaw()
	if err := cutOff.Unlock(contextFor(t, soon)); !errors.Is(err, lock.ErrLost) {
		t.Errorf("unlock of what is lost: %v", err)
	}
	next, err := behind.Mutex("cut off", nil).Lock(contextFor(t, opts.Lock.TTL/4))
	switch {
	case err == nil && next.Token() <= taken.Token():
		t.Errorf("token %d was granted behind %d", next.Token(), taken.Token())
	case err == nil:
		eventually(t, "the loss is told", func() bool { return taken.Err() != nil })
		mustUnlock(t, next)
		return
	case errors.Is(err, lock.ErrHeld), errors.Is(err, context.DeadlineExceeded), errors.Is(err, driver.ErrUnavailable):
		mustUnlock(t, taken)
	default:
		t.Errorf("beside the next holder: %v", err)
	}
	mustUnlock(t, mustLock(t, behind, "cut off"))
}
