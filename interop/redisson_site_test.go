package interop

import (
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// site is the servers that a scene is played on, and what is set so that both sides meet there.
type site struct {
	version       string                 // of Redisson
	topology      string                 // as the matrix calls it
	nodes         []*testenv.RedisServer // all of them are masters
	javaPublishes string                 // OFF or ON, or AUTO where Redisson cannot be told, or need not be
	goPublishes   redislock.PubSub
}

// alone is one server.
func alone(t *testing.T) *site {
	t.Helper()
	return &site{topology: "one server", nodes: []*testenv.RedisServer{testenv.Redis(t, nil)}, javaPublishes: "AUTO"}
}

// place is where something was shown, for the matrix.
func (s *site) place() matrix.Place { return matrix.Place{Topology: s.topology, Version: s.version} }

func (s *site) isCluster() bool { return len(s.nodes) > 1 }

// startJava starts a program with Redisson's locks that uses the servers of a site.
func startJava(t *testing.T, program *peer.Program, at *site) *peer.Java {
	t.Helper()
	return peer.Start(t, program, at.uris(), strconv.FormatInt(watchdog.Milliseconds(), 10), at.javaPublishes)
}

// addresses are those of all servers, with commas between them.
func (s *site) addresses(scheme string) string {
	var all []string
	for _, node := range s.nodes {
		all = append(all, scheme+node.Addr())
	}
	return strings.Join(all, ",")
}

// uris are the addresses as Redisson wants them.
func (s *site) uris() string { return s.addresses("redis://") }

// options are Bedrock's.
func (s *site) options() *redislock.Options {
	return &redislock.Options{TokenTTL: -1, PubSub: s.goPublishes}
}

func (s *site) connect(t *testing.T) redis.UniversalClient {
	t.Helper()
	rdb := connectTo(strings.Split(s.addresses(""), ","))
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func connectTo(addrs []string) redis.UniversalClient {
	return redis.NewUniversalClient(&redis.UniversalOptions{Addrs: addrs})
}

// scripts returns how many scripts the servers have run. One that a server does not know, and that is sent again with
// its text, counts once.
func (s *site) scripts() (n int) { return s.commands("eval") + s.commands("evalsha") }

// commands returns how many commands of a name have succeeded.
func (s *site) commands(name string) (n int) {
	for _, node := range s.nodes {
		reply, _ := node.Do("INFO", "commandstats").(string)
		_, after, _ := strings.Cut(reply, "cmdstat_"+name+":")
		after, _, _ = strings.Cut(after, "\r\n")
		n += statOf(after, "calls") - statOf(after, "failed_calls")
	}
	return n
}

// statOf returns one of the numbers in a line of Redis' statistics.
func statOf(line, stat string) (n int) {
	for field := range strings.SplitSeq(line, ",") {
		if text, ok := strings.CutPrefix(field, stat+"="); ok {
			n, _ = strconv.Atoi(text)
		}
	}
	return n
}

// listening returns how many listen on a channel, in either way.
func (s *site) listening(channel string) (n int64) {
	for _, node := range s.nodes {
		for _, command := range []string{"NUMSUB", "SHARDNUMSUB"} {
			reply, err := node.Try("PUBSUB", command, channel) // an old server knows only the first
			if counts, _ := reply.([]any); err == nil && len(counts) > 1 {
				count, _ := counts[1].(int64)
				n += count
			}
		}
	}
	return n
}
