package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// examine refuses servers that do not keep what they acknowledge, unless
// volatile ones will do. It returns what the first server keeps, in words.
func examine(ctx context.Context, client redis.UniversalClient, volatile bool) (string, error) {
	nodes, err := nodesOf(ctx, client)
	if err != nil {
		return "", describe("examine", "the servers", err)
	}
	var words string
	for _, n := range nodes {
		s, err := settingsOf(ctx, n)
		if err != nil {
			return "", describe("examine", "the settings", err)
		}
		if reason := s.objection(); reason != "" && !volatile {
			return "", &VolatileError{Reason: reason}
		}
		if words == "" {
			words = s.words()
		}
	}
	return words, nil
}

// VolatileError refuses a server that may lose what it has acknowledged.
type VolatileError struct {
	// Reason is the setting that is to blame.
	Reason string
}

func (e *VolatileError) Error() string {
	return fmt.Sprintf("redisstore: %s; set it right, or set AllowVolatile to lose transactions", e.Reason)
}

// nodesOf are the masters of a cluster, or the only one.
func nodesOf(ctx context.Context, client redis.UniversalClient) ([]redis.Cmdable, error) {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return []redis.Cmdable{client}, nil
	}
	var mu sync.Mutex
	var nodes []redis.Cmdable
	err := cluster.ForEachMaster(ctx, func(_ context.Context, master *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, master)
		return nil
	})
	return nodes, err
}

// settings are those that matter for what is acknowledged.
type settings struct {
	appendonly, fsync, policy string // fsync is empty where it may not be read
}

func settingsOf(ctx context.Context, node redis.Cmdable) (settings, error) {
	var s settings
	info, err := node.Info(ctx, "persistence").Result()
	if err != nil {
		return s, err
	}
	memory, err := node.Info(ctx, "memory").Result()
	if err != nil {
		return s, err
	}
	s.appendonly, s.policy = infoField(info, "aof_enabled"), infoField(memory, "maxmemory_policy")
	config, err := node.ConfigGet(ctx, "appendfsync").Result()
	var refused redis.Error
	if err != nil && !errors.As(err, &refused) { // hosted servers do not let us read it
		return s, err
	}
	s.fsync = config["appendfsync"]
	return s, nil
}

// infoField picks a field out of INFO's answer, empty when it is not there.
func infoField(info, field string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), field+":"); ok {
			return value
		}
	}
	return ""
}

// objection says why transactions are not safe on the server, or nothing.
// Policies that evict what has a time to live are harmless: nothing here has.
func (s *settings) objection() string {
	switch {
	case s.appendonly != "1":
		return "appendonly is off: a restart would lose acknowledged transactions"
	case s.fsync == "no":
		return "appendfsync is no: a crash of the machine would lose many seconds of acknowledged transactions"
	case strings.HasPrefix(s.policy, "allkeys"):
		return "maxmemory-policy is " + s.policy + ": transactions would be evicted when memory is full"
	default:
		return ""
	}
}

func (s *settings) words() string {
	if s.appendonly != "1" {
		return "no appendonly file"
	}
	if s.fsync == "" {
		return "appendonly, fsync not known"
	}
	return "appendonly, fsync " + s.fsync
}
