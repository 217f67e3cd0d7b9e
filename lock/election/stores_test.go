package election_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

// onEtcd starts a server, and returns what makes clients of it.
func onEtcd(t *testing.T) func(etcdlock.Profile) *lock.Client {
	t.Helper()
	member := testenv.StartEtcd(t, nil).Members[0]
	return func(p etcdlock.Profile) *lock.Client {
		conn, err := clientv3.New(clientv3.Config{Endpoints: []string{member.Addr()}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		locks, err := etcdlock.New(conn, &etcdlock.Options{Profile: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, locks) })
		return locks
	}
}

// onZooKeeper starts a server, and returns what makes clients of it.
func onZooKeeper(t *testing.T) func(zklock.Profile) *lock.Client {
	t.Helper()
	server := testenv.StartZooKeeper(t, nil)[0]
	return func(p zklock.Profile) *lock.Client {
		locks, err := zklock.Connect(t.Context(), []string{server.Addr()}, &zklock.Options{Profile: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, locks) })
		return locks
	}
}

// TestTermIsToldWithAnotherToken: tokens come in blocks there, and whatever else is written has a number of the same
// row. Observers are told the very token of each term, once.
func TestTermIsToldWithAnotherToken(t *testing.T) {
	t.Parallel()
	etcd, zookeeper := onEtcd(t), onZooKeeper(t)
	for name, open := range map[string]func() *lock.Client{
		"etcd":            func() *lock.Client { return etcd(etcdlock.Own) },
		"etcd compatible": func() *lock.Client { return etcd(etcdlock.Compatible) },
		"etcd elections":  func() *lock.Client { return etcd(etcdlock.Elections) },
		"zookeeper":       func() *lock.Client { return zookeeper(zklock.Escaped) },
		"curator":         func() *lock.Client { return zookeeper(zklock.CuratorLatch) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			locks, others := open(), open()
			for fair, opts := range map[string]*election.Options{"plain": nil, "fair": {Fair: true}} {
				try := locks.Mutex(name+" "+fair, &lock.MutexOptions{Fair: fair == "fair"})
				if _, err := try.TryLock(t.Context()); err == nil { // else it has none that are fair
					tellsTerms(t, name+", "+fair, locks, others, open(), opts)
				}
			}
		})
	}
}

// tellsTerms has candidates of two clients lead in turn.
func tellsTerms(t *testing.T, name string, locks, others, looking *lock.Client, opts *election.Options) {
	t.Helper()
	both := []*election.Election{election.New(locks, name, opts), election.New(others, name, opts)}
	ctx, cancel := context.WithCancel(t.Context())
	seen := observe(ctx, election.New(looking, name, opts))
	term := campaign(t, both[0])
	wantTerm(t, seen, term)
	for i := range 2 {
		won := campaignLater(t, both[1-i%2])
		<-time.After(100 * time.Millisecond) // it waits by now
		wrote, err := others.Mutex("beside "+name, nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := wrote.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		leader, err := both[1].Leader(t.Context())
		if err != nil || leader.Owner != term.Owner() || leader.Token != term.Token() {
			t.Errorf("told is %+v, %v; it is %s with %d", leader, err, term.Owner(), term.Token())
		}
		resign(t, term)
		term = <-won
		wantTerm(t, seen, term)
	}
	resign(t, term)
	cancel()
	for s := range seen {
		if s.leader.Owner != "" {
			t.Errorf("and %+v, %v", s.leader, s.err)
		}
	}
}

// wantTerm waits until a leader is seen, who has to be that of the term.
func wantTerm(t *testing.T, seen <-chan sight, term *election.Term) {
	t.Helper()
	for s := range seen {
		if s.err != nil || s.leader.Owner == "" {
			continue
		}
		if s.leader.Owner != term.Owner() || s.leader.Token != term.Token() {
			t.Errorf("seen is %+v; it is %s with %d", s.leader, term.Owner(), term.Token())
		}
		return
	}
}
