package etcdlock_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

// candidate returns an election as one of its candidates sees it, who proposes something.
func candidate(t *testing.T, client *clientv3.Client, proposal string) *election.Election {
	t.Helper()
	locks := newLocks(t, client, &etcdlock.Options{Profile: etcdlock.Elections})
	return election.New(locks, "job", &election.Options{Meta: map[string]string{etcdlock.ProposalKey: proposal}})
}

// campaigning starts a campaign, and returns where its term comes.
func campaigning(t *testing.T, e *election.Election) <-chan *election.Term {
	t.Helper()
	won := make(chan *election.Term, 1)
	ctx := contextFor(t, time.Minute)
	go func() {
		defer close(won)
		if term, err := e.Campaign(ctx); err != nil {
			t.Errorf("campaign: %v", err)
		} else {
			won <- term
		}
	}()
	return won
}

// official returns an election as a candidate of the official client sees it.
func official(t *testing.T, client *clientv3.Client) *concurrency.Election {
	t.Helper()
	return concurrency.NewElection(session(t, client), "job")
}

// proposalOf returns what the leader proposes, as the official client sees it.
func proposalOf(t *testing.T, e *concurrency.Election) string {
	t.Helper()
	resp, err := e.Leader(contextFor(t, soon))
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatalf("leader: %+v, %v", resp, err)
	}
	return string(resp.Kvs[0].Value)
}

// TestElectionIsShared: candidates of ours and official ones lead in the order of coming, and each side sees what the
// other proposes.
func TestElectionIsShared(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	ours, theirs := candidate(t, client, "ours"), official(t, client)
	const another = `{"addr":"10.0.0.7:80","meta":"v1"}`
	other := candidate(t, connect(t, m.Addr()), another)
	term, err := ours.Campaign(contextFor(t, soon))
	if err != nil {
		t.Fatal(err)
	}
	if got := proposalOf(t, theirs); got != "ours" {
		t.Errorf("the official client sees %q", got)
	}
	won := make(chan error, 1)
	go func() { won <- theirs.Campaign(contextFor(t, time.Minute), "theirs") }()
	eventually(t, "an official candidate waits", func() bool { return len(keysOf(t, client, "job/")) == 2 })
	next := campaigning(t, other)
	eventually(t, "one of ours waits", func() bool { return len(keysOf(t, client, "job/")) == 3 })
	if err := term.Resign(contextFor(t, soon)); err != nil {
		t.Fatal(err)
	}
	if err := <-won; err != nil {
		t.Fatal(err)
	}
	leader, err := ours.Leader(contextFor(t, soon))
	if err != nil || leader.Meta[etcdlock.ProposalKey] != "theirs" {
		t.Errorf("we see %+v, %v", leader, err)
	}
	select {
	case <-next:
		t.Error("two lead")
	default:
	}
	if err := theirs.Resign(contextFor(t, soon)); err != nil {
		t.Fatal(err)
	}
	last := <-next
	if last == nil || last.Token() <= term.Token() || last.Token() <= uint64(theirs.Rev())<<20 {
		t.Fatalf("terms %+v and %+v, and revision %d", term, last, theirs.Rev())
	}
	if got := proposalOf(t, theirs); got != another { // not what is called so in it
		t.Errorf("the official client sees %q", got)
	}
	if err := last.Resign(contextFor(t, soon)); err != nil {
		t.Error(err)
	}
}

// TestLeadersAreObserved: who observes sees each leader once, official or ours, and what is proposed anew; not what
// else is written in the cluster.
func TestLeadersAreObserved(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	ours, theirs := candidate(t, client, "ours"), official(t, client)
	seen := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	watching := candidate(t, connect(t, m.Addr()), "")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for leader, err := range watching.Observe(ctx) {
			if err == nil && leader.Owner != "" {
				seen <- leader.Meta[etcdlock.ProposalKey]
			}
		}
	}()
	defer func() { cancel(); <-ended }()
	officially := theirs.Observe(ctx)
	for range 2 {
		term, err := ours.Campaign(contextFor(t, soon))
		if err != nil {
			t.Fatal(err)
		}
		wantSeen(t, seen, "ours")
		wantObserved(t, officially, "ours")
		wantSameLeader(t, client, watching)
		if err := term.Resign(contextFor(t, soon)); err != nil {
			t.Fatal(err)
		}
		if err := theirs.Campaign(contextFor(t, soon), "theirs"); err != nil {
			t.Fatal(err)
		}
		wantSeen(t, seen, "theirs")
		wantObserved(t, officially, "theirs")
		wantSameLeader(t, client, watching)
		if err := theirs.Resign(contextFor(t, soon)); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case more := <-seen:
		t.Errorf("and %q", more)
	default:
	}
}

// TestObserverMissesTheNextHolder: the lock goes on to who waits for it, so it is never free, and who only looks on is
// told all the same: that it is somebody's turn, and that it was taken.
func TestObserverMissesTheNextHolder(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	b, looking := newBackend(t, client, nil), newBackend(t, connect(t, m.Addr()), nil)
	g, next := mustAcquire(t, b, request("a", 1)), request("a", 2)
	next.Waits = true
	if g, err := b.Acquire(contextFor(t, soon), next); err == nil {
		t.Fatalf("granted is %+v", g)
	}
	w, err := looking.(driver.Waiter).Watch(contextFor(t, soon), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	before := w.Count()
	mustRelease(t, b, g)
	eventually(t, "the turn is told", func() bool { return w.Count() == before+1 })
	mustAcquire(t, b, next)
	eventually(t, "the next holder is told", func() bool { return w.Count() == before+2 })
}

// TestCandidateMissesTheNextHolder: who waits looks on, too, and is told as well as one that does nothing else. While
// it only waits, the turn of another one does not wake it.
func TestCandidateMissesTheNextHolder(t *testing.T) {
	t.Parallel()
	m, client := oneServer(t)
	b, candidate := newBackend(t, client, nil), newBackend(t, connect(t, m.Addr()), nil)
	first := mustAcquire(t, b, request("a", 1))
	waits := func(b driver.Backend, number int) driver.Request {
		req := request("a", number)
		req.Waits = true
		wantRefused(t, b, req)
		return req
	}
	second, third := waits(b, 2), waits(b, 3)
	waits(candidate, 4)
	listens := func() driver.Watch {
		w, err := candidate.(driver.Waiter).Watch(contextFor(t, soon), "a", driver.Mutex)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	forItself, looks := listens(), listens()
	defer forItself.Close()
	before := looks.Count()
	mustRelease(t, b, first)
	eventually(t, "the turn is told", func() bool { return looks.Count() == before+1 })
	held := mustAcquire(t, b, second)
	eventually(t, "the next holder is told", func() bool { return looks.Count() == before+2 })
	looks.Close()
	before = forItself.Count()
	mustRelease(t, b, held)
	mustRelease(t, b, mustAcquire(t, b, third))
	eventually(t, "its own turn is told", func() bool { return forItself.Count() > before })
	if n := forItself.Count() - before; n > 1 {
		t.Errorf("who only waits was woken %d times", n)
	}
}

// wantSameLeader checks that a leader is not told as another one when something else is written.
func wantSameLeader(t *testing.T, client *clientv3.Client, e *election.Election) {
	t.Helper()
	before, err := e.Leader(contextFor(t, soon))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(contextFor(t, soon), "other", "x"); err != nil {
		t.Fatal(err)
	}
	after, err := e.Leader(contextFor(t, soon))
	if err != nil || after.Owner != before.Owner || after.Token != before.Token {
		t.Errorf("the leader is %+v, and then %+v, %v", before, after, err)
	}
}

// wantSeen waits for what an observer of ours sees next.
func wantSeen(t *testing.T, seen <-chan string, want string) {
	t.Helper()
	select {
	case got := <-seen:
		if got != want {
			t.Errorf("we observe %q, want %q", got, want)
		}
	case <-time.After(soon):
		t.Fatalf("we do not observe %q", want)
	}
}

// wantObserved waits until an official observer sees something.
func wantObserved(t *testing.T, seen <-chan *clientv3.GetResponse, want string) {
	t.Helper()
	for {
		select {
		case got := <-seen:
			if string(got.Kvs[0].Value) == want {
				return
			}
		case <-time.After(soon):
			t.Fatalf("the official client does not observe %q", want)
		}
	}
}
