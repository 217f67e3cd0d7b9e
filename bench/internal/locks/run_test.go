package locks_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/bench/internal/locks"
	"github.com/bedrock-go/bedrock/bench/internal/redisd"
)

// TestMain lets the test binary be its own worker, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == locks.WorkerCommand {
		if err := locks.Work(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestRunMeasuresWhatItWasAskedFor(t *testing.T) {
	suite := &locks.Suite{
		Addr: startRedis(t), Quick: true,
		Workloads: []string{"own-keys-64", "contended-4x16", "waiters-1000", "handoff"},
		Subjects:  []string{"rueidislock-1key", "raw-goredis"},
	}
	rates := make(map[string]float64)
	for _, o := range suite.Run(t.Context()) {
		if o.Err != nil {
			t.Errorf("%s of %s: %v", o.Workload.Name, o.Subject.Name, o.Err)
		}
		rates[o.Workload.Name+" "+o.Subject.Name] = o.Median()[locks.Value]
	}
	for _, key := range []string{
		"own-keys-64 raw-goredis", "own-keys-64 rueidislock-1key", "contended-4x16 rueidislock-1key",
		"waiters-1000 rueidislock-1key", "handoff rueidislock-1key",
	} {
		if rates[key] <= 0 {
			t.Errorf("%s measured %v, want more", key, rates[key])
		}
	}
	if len(rates) != 5 {
		t.Errorf("measured %v, want five combinations", rates)
	}
}

// TestRunMeasuresLocksOfEveryKind, and finds nobody inside who should not be.
func TestRunMeasuresLocksOfEveryKind(t *testing.T) {
	suite := &locks.Suite{
		Addr: startRedis(t), Quick: true,
		Workloads: []string{"rw-4x16", "semaphore-8-64", "multi-2", "election-1", "latch"},
		Subjects: []string{
			"bedrock-goredis", "bedrock-goredis-rw", "bedrock-rueidis-semaphore", "bedrock-goredis-multi",
			"bedrock-goredis-in-turn", "bedrock-rueidis-election", "redsync-goredis",
		},
	}
	var measured []string
	for _, o := range suite.Run(t.Context()) {
		if o.Err != nil {
			t.Errorf("%s of %s: %v", o.Workload.Name, o.Subject.Name, o.Err)
		}
		if v := o.Median()[locks.Value]; v <= 0 {
			t.Errorf("%s of %s measured %v, want more", o.Workload.Name, o.Subject.Name, v)
		}
		measured = append(measured, o.Workload.Name+" "+o.Subject.Name)
	}
	want := []string{
		"rw-4x16 redsync-goredis", "rw-4x16 bedrock-goredis-rw", "semaphore-8-64 bedrock-rueidis-semaphore",
		"multi-2 bedrock-goredis-multi", "multi-2 bedrock-goredis-in-turn", "election-1 bedrock-goredis",
		"election-1 bedrock-rueidis-election", "latch bedrock-goredis",
	}
	if !slices.Equal(measured, want) {
		t.Errorf("measured %q, want %q", measured, want)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	suite := &locks.Suite{Addr: startRedis(t), Quick: true, Progress: func(string) { cancel() }}
	for _, o := range suite.Run(ctx) {
		if len(o.Samples) > 0 || o.Err != nil {
			t.Errorf("%s of %s was measured after the end", o.Workload.Name, o.Subject.Name)
		}
	}
}

func TestRunHasSeveralServers(t *testing.T) {
	servers := startGroup(t, 5)
	suite := &locks.Suite{
		Addr: servers[0], More: servers[1:], Quick: true,
		Workloads: []string{"several-1", "several-1-far", "several-16"},
	}
	p50 := make(map[string]float64)
	for _, o := range suite.Run(t.Context()) {
		if o.Err != nil {
			t.Errorf("%s of %s: %v", o.Workload.Name, o.Subject.Name, o.Err)
		}
		p50[o.Workload.Name+" "+o.Subject.Name] = o.Median()[locks.P50]
	}
	if len(p50) != 11 {
		t.Errorf("measured %v, want four subjects twice, and three", p50)
	}
	for name, micros := range p50 {
		if strings.HasPrefix(name, "several-1-far ") && micros < 2000 {
			t.Errorf("%s: a pair takes %v µs, although each of two answers takes 1 ms longer", name, micros)
		}
	}
}

func TestWhoeverHasTooFewServersIsLeftOut(t *testing.T) {
	var lines []string
	suite := &locks.Suite{
		Addr: startRedis(t), Quick: true, Workloads: []string{"several-1"},
		Subjects: []string{"bedrock-goredis", "bedrock-quorum-5"},
		Progress: func(line string) { lines = append(lines, line) },
	}
	outcomes := suite.Run(t.Context())
	if len(outcomes) != 1 || outcomes[0].Subject.Name != "bedrock-goredis" {
		t.Errorf("%d subjects were measured, want the one that needs one server", len(outcomes))
	}
	if want := "several-1  bedrock-quorum-5 is not measured: it needs 5 servers, not 1"; !slices.Contains(lines, want) {
		t.Errorf("progress was %q, want %q", lines, want)
	}
}

func TestFailedMeasurementStopsNothing(t *testing.T) {
	suite := &locks.Suite{
		Addr: "127.0.0.1:1", Quick: true,
		Workloads: []string{"contended-64"}, Subjects: []string{"rueidislock", "local-mutex"},
	}
	outcomes := suite.Run(t.Context())
	if outcomes[0].Err == nil || len(outcomes[0].Samples) > 0 {
		t.Error("rueidislock was measured without a server")
	}
	if outcomes[1].Err != nil || len(outcomes[1].Samples) == 0 {
		t.Errorf("the local mutex was not measured: %v", outcomes[1].Err)
	}
}

// startRedis runs a server for the test.
func startRedis(t *testing.T) (addr string) {
	t.Helper()
	return startGroup(t, 1)[0]
}

// startGroup runs n servers for the test.
func startGroup(t *testing.T, n int) (addrs []string) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	servers, err := redisd.StartGroup(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Stop)
	return servers.Addrs()
}
