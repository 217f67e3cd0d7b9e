package testenv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	sentinelCount  = 3
	sentinelQuorum = 2
)

// SentinelSet is a master with replicas, watched by three Sentinels that fail
// over half a second after the master has gone.
type SentinelSet struct {
	// MasterName is the name the Sentinels know the master by.
	MasterName string
	// Servers are the data servers; the first was the first master.
	Servers []*RedisServer

	t         Owner
	sentinels []*RedisServer
}

// Sentinel starts a master, replicas and three Sentinels, and waits until a
// fail-over would succeed.
func Sentinel(t Owner, replicas int) *SentinelSet {
	t.Helper()
	s := &SentinelSet{MasterName: "bedrock", t: t}
	master := Redis(t, nil)
	s.Servers = append(s.Servers, master)
	for range replicas {
		s.Servers = append(s.Servers, Redis(t, &RedisOptions{ReplicaOf: master}))
	}
	for range sentinelCount {
		s.sentinels = append(s.sentinels, s.startSentinel(master))
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := master.waitFor(ctx, "sentinels", s.isComplete); err != nil {
		t.Fatalf("sentinel: %v\n%s", err, s.sentinels[0].logTail())
	}
	return s
}

// startSentinel runs one Sentinel: a Redis server in another mode.
func (s *SentinelSet) startSentinel(master *RedisServer) *RedisServer {
	s.t.Helper()
	server := newRedis(s.t, nil)
	conf := filepath.Join(server.Dir, "sentinel.conf")
	if err := os.WriteFile(conf, []byte(s.config(server, master)), 0o600); err != nil {
		s.t.Fatalf("sentinel: write configuration: %v", err)
	}
	server.run([]string{conf, "--sentinel"})
	server.awaitReady()
	// Sentinels find each other by messages every 2 s; once per 100 ms is as
	// real and twenty times as quick. Servers without the command take longer.
	// The ping period stays: it decides which replicas may be promoted.
	_, _ = server.Try("SENTINEL", "DEBUG", "PUBLISH-PERIOD", 100, "INFO-PERIOD", 100, "ASK-PERIOD", 100)
	return server
}

// config is a Sentinel's configuration file, which it rewrites itself.
func (s *SentinelSet) config(sentinel, master *RedisServer) string {
	return fmt.Sprintf(`bind 127.0.0.1
port %d
dir %q
sentinel monitor %[3]s 127.0.0.1 %[4]d %[5]d
sentinel down-after-milliseconds %[3]s 500
sentinel failover-timeout %[3]s 1000
sentinel parallel-syncs %[3]s 1
`, sentinel.Port, sentinel.Dir, s.MasterName, master.Port, sentinelQuorum)
}

// isComplete reports whether every Sentinel knows all others and all replicas.
func (s *SentinelSet) isComplete() bool {
	for _, sentinel := range s.sentinels {
		state, err := sentinel.Try("SENTINEL", "MASTER", s.MasterName)
		if err != nil || !s.complete(fields(state)) {
			return false
		}
	}
	return true
}

func (s *SentinelSet) complete(state map[string]string) bool {
	return state["num-other-sentinels"] == strconv.Itoa(sentinelCount-1) &&
		state["num-slaves"] == strconv.Itoa(len(s.Servers)-1) &&
		state["flags"] == "master"
}

// fields reads a flat list of names and values.
func fields(reply any) map[string]string {
	list, _ := reply.([]any)
	m := make(map[string]string, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		m[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
	}
	return m
}

// Addrs are the Sentinels' addresses.
func (s *SentinelSet) Addrs() []string {
	addrs := make([]string, len(s.sentinels))
	for i, sentinel := range s.sentinels {
		addrs[i] = sentinel.Addr()
	}
	return addrs
}

// Master is the master most Sentinels name at present, nil when they disagree.
func (s *SentinelSet) Master() *RedisServer {
	votes := map[int]int{}
	for _, sentinel := range s.sentinels {
		reply, err := sentinel.Try("SENTINEL", "GET-MASTER-ADDR-BY-NAME", s.MasterName)
		if addr, ok := reply.([]any); err == nil && ok && len(addr) == 2 {
			number, _ := strconv.Atoi(fmt.Sprint(addr[1]))
			votes[number]++
		}
	}
	for _, server := range s.Servers {
		if votes[server.Port] >= sentinelQuorum {
			return server
		}
	}
	return nil
}

// KillMaster kills the present master and returns it.
func (s *SentinelSet) KillMaster() *RedisServer {
	s.t.Helper()
	master := s.Master()
	if master == nil {
		s.t.Fatal("sentinel: no master to kill")
	}
	master.Kill()
	return master
}

// WaitFailover waits until another server than old is the master and takes
// writes.
func (s *SentinelSet) WaitFailover(ctx context.Context, old *RedisServer) (*RedisServer, error) {
	var master *RedisServer
	promoted := func() bool {
		master = s.Master()
		return master != nil && master != old && master.IsMaster()
	}
	if err := poll(ctx, 20*time.Millisecond, promoted); err != nil {
		return nil, fmt.Errorf("waiting for fail-over: %w", err)
	}
	return master, nil
}
