package redisstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/internal/redisnode"
	"github.com/bedrock-go/bedrock/redisconn"
)

// examine refuses servers that do not keep what they acknowledge, unless
// volatile ones will do. It returns what the first server keeps, in words.
func examine(ctx context.Context, conn redisconn.Conn, volatile bool) (string, error) {
	nodes, err := conn.Masters(ctx)
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
			words = s.inWords()
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

// settings are those that matter for what is acknowledged.
type settings struct {
	appendonly, fsync, policy string // fsync is empty where it may not be read
}

func settingsOf(ctx context.Context, node redisconn.Node) (settings, error) {
	s, err := redisnode.ReadSettings(ctx, node, []string{"persistence", "memory"}, []string{"appendfsync"})
	if err != nil {
		return settings{}, err
	}
	return settings{
		appendonly: s.Info["aof_enabled"], fsync: s.Config["appendfsync"], policy: s.Info["maxmemory_policy"],
	}, nil
}

// objection says why transactions are not safe on the server; empty if they are. Policies
// that evict keys with a time to live are harmless: no key here has one.
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

func (s *settings) inWords() string {
	if s.appendonly != "1" {
		return "no appendonly file"
	}
	if s.fsync == "" {
		return "appendonly, fsync not known"
	}
	return "appendonly, fsync " + s.fsync
}
