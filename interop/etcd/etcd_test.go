package etcd_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/etcdlock"
)

const (
	// ttl is how long everybody's leases live.
	ttl = 3 * time.Second
	// atOnce is the time within which one has the lock who is woken: no lease ends so soon.
	atOnce = ttl / 2
	// rounds is how often everything is done.
	rounds = 10
)

func TestMain(m *testing.M) {
	if role := os.Getenv(playsAs); role != "" {
		play(role, os.Getenv(playsAt), os.Getenv(playsNamed))
	}
	flag.Bool(matrix.UpdateFlag, false, "write docs/interop-etcd.md from what was played")
	goleak.VerifyTestMain(m)
}

// together is Bedrock and others on one cluster.
type together struct {
	*testing.T

	at     matrix.Place
	seen   *matrix.Matrix
	theirs string // the endpoint that the others use
	client *clientv3.Client
	ours   map[etcdlock.Profile]*lock.Client
}

// titles are what columns are called where both sides are written in Go.
func titles() map[string]string {
	return map[string]string{
		matrix.GoWaits: "we wait, they wake us", matrix.JavaWaits: "they wait, we wake them",
		matrix.JavaDies: "they are killed", matrix.GoDies: "we are killed",
		matrix.InspectedByGo: "we inspect", matrix.InspectedByJava: "they inspect",
	}
}

// TestEtcd plays all scenes with the real programs, and compares what was seen with docs/interop-etcd.md.
func TestEtcd(t *testing.T) {
	version := versionOf(t)
	clusters := map[string]int{"one member": 1, "three members": 3}
	seen := &matrix.Matrix{
		Library: "etcd", File: "../../docs/interop-etcd.md", Preface: preface, AtOnce: atOnce,
		Scenes: len(clusters) * len(scenes()), Titles: titles(),
	}
	t.Cleanup(func() { seen.Compare(t) }) // when all scenes are over, which are played side by side
	for topology, n := range clusters {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			cluster := testenv.StartEtcd(t, &testenv.EtcdOptions{Members: n})
			for name, play := range scenes() {
				t.Run(name, func(t *testing.T) {
					e := &together{
						T: t, at: matrix.Place{Topology: topology, Version: version}, seen: seen,
						theirs: cluster.Members[0].Addr(), ours: make(map[etcdlock.Profile]*lock.Client),
					}
					e.connect(cluster.Members[n-1].Addr())
					play(e)
					seen.Played(name, e.at)
				})
			}
		})
	}
}

// versionOf returns the version of etcdctl.
func versionOf(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.Program(t, "etcdctl", "run: make servers"), "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, "etcdctl version:"))
}

// connect makes the clients of our side.
func (e *together) connect(endpoint string) {
	e.Helper()
	client, err := dial(endpoint)
	if err != nil {
		e.Fatal(err)
	}
	e.client = client
	e.Cleanup(func() { _ = client.Close() })
	for _, profile := range []etcdlock.Profile{etcdlock.Compatible, etcdlock.Elections} {
		e.ours[profile] = e.anotherClient(profile)
	}
}

// anotherClient returns a client of our side that has nothing in common with the others.
func (e *together) anotherClient(profile etcdlock.Profile) *lock.Client {
	e.Helper()
	locks, err := newLocks(e.client, profile)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), peer.Patience)
		defer cancel()
		if err := locks.Stop(ctx); err != nil {
			e.Error(err)
		}
	})
	return locks
}

// untilContended waits until so many have the lock or wait for it.
func (e *together) untilContended(name string, n int64) {
	e.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(peer.Patience); ; <-tick.C {
		resp, err := e.client.Get(e.Context(), name+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			e.Fatal(err)
		}
		if resp.Count == n {
			return
		}
		if time.Now().After(deadline) {
			e.Fatalf("%d contend for %s, waited for %d", resp.Count, name, n)
		}
	}
}
