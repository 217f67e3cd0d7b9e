package testenv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// startTimeout bounds the wait for a server; a healthy one needs some 20 ms.
	startTimeout = 15 * time.Second
	// logTailBytes is how much of a server's log a failed test shows.
	logTailBytes = 2000
)

// start writes the configuration, runs the server and waits until it answers.
func (s *RedisServer) start() {
	s.t.Helper()
	conf := filepath.Join(s.Dir, "redis.conf")
	if err := os.WriteFile(conf, []byte(s.config()), 0o600); err != nil {
		s.t.Fatalf("redis %s: write configuration: %v", s.Addr(), err)
	}
	for range portTries {
		s.run(append([]string{conf}, s.opts.Args...))
		if s.isReady() {
			return
		}
	}
	s.t.Fatalf("redis %s: the port is not free\n%s", s.Addr(), s.logTail())
}

// portTries is how often a server is started whose port somebody else listens on
// for a moment, in spite of the reservation.
const portTries = 5

// run starts the process.
func (s *RedisServer) run(args []string) {
	s.t.Helper()
	proc, err := startProcess(s.bin, args, s.Dir, s.logFile())
	if err != nil {
		s.t.Fatalf("redis %s: %v", s.Addr(), err)
	}
	s.proc = proc
}

// config is the server's redis.conf. A file keeps passwords out of the list of
// processes.
func (s *RedisServer) config() string {
	lines := []string{
		"bind 127.0.0.1",
		"dir " + strconv.Quote(s.Dir),
		"repl-diskless-sync-delay 0", // a replica is there at once, not after 5 s
		"repl-ping-replica-period 1",
	}
	lines = append(lines, s.portLines()...)
	lines = append(lines, s.persistenceLines()...)
	lines = append(lines, s.accessLines()...)
	lines = append(lines, s.memoryLines()...)
	if master := s.opts.ReplicaOf; master != nil {
		lines = append(lines, fmt.Sprintf("replicaof 127.0.0.1 %d", master.Port))
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *RedisServer) portLines() []string {
	if s.opts.TLS {
		return s.tlsLines()
	}
	return []string{fmt.Sprintf("port %d", s.Port)}
}

func (s *RedisServer) persistenceLines() []string {
	switch s.opts.Persistence {
	case PersistRDB:
		return []string{"save 3600 1"}
	case PersistLog:
		return []string{`save ""`, "appendonly yes", "appendfsync no"}
	case PersistAOF:
		return []string{`save ""`, "appendonly yes", "appendfsync always"}
	default:
		return []string{`save ""`, "appendonly no"}
	}
}

func (s *RedisServer) accessLines() []string {
	var lines []string
	if p := s.opts.Password; p != "" {
		quoted := strconv.Quote(p)
		lines = append(lines, "requirepass "+quoted, "masterauth "+quoted)
	}
	for _, user := range s.opts.Users {
		lines = append(lines, "user "+user)
	}
	return lines
}

func (s *RedisServer) memoryLines() []string {
	var lines []string
	if s.opts.MaxMemory != "" {
		lines = append(lines, "maxmemory "+s.opts.MaxMemory)
	}
	if s.opts.Policy != "" {
		lines = append(lines, "maxmemory-policy "+s.opts.Policy)
	}
	return lines
}

// awaitReady waits until the server answers, and a replica until it has its
// master's data.
func (s *RedisServer) awaitReady() {
	s.t.Helper()
	if !s.isReady() {
		s.t.Fatalf("redis %s: the port is not free\n%s", s.Addr(), s.logTail())
	}
}

// isReady waits for the same, and reports whether it came: not if the server found its port taken.
func (s *RedisServer) isReady() bool {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := s.waitFor(ctx, "readiness", s.isUsable)
	if err != nil && (!s.proc.isGone() || !strings.Contains(s.logTail(), "Address already in use")) {
		s.t.Fatalf("redis %s: %v\n%s", s.Addr(), err, s.logTail())
	}
	return err == nil
}

// isUsable reports whether the server may be used.
func (s *RedisServer) isUsable() bool {
	reply, err := s.Try("PING")
	if err != nil || reply != "PONG" {
		return false
	}
	return s.opts.ReplicaOf == nil || s.inSync()
}

// inSync reports whether a replica has caught up with its master once.
func (s *RedisServer) inSync() bool {
	reply, err := s.Try("INFO", "replication")
	return err == nil && infoField(reply, "master_link_status") == "up"
}

// CatchUp waits until a replica has all its master has now.
func (s *RedisServer) CatchUp() {
	s.t.Helper()
	want := offset(s.opts.ReplicaOf)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := s.waitFor(ctx, "replication", func() bool { return offset(s) >= want }); err != nil {
		s.t.Fatalf("redis %s: %v\n%s", s.Addr(), err, s.logTail())
	}
}

// offset is how much of the replication stream a server has.
func offset(s *RedisServer) int64 {
	field := "master_repl_offset"
	if s.opts.ReplicaOf != nil {
		field = "slave_repl_offset"
	}
	n, _ := strconv.ParseInt(s.Info(field), 10, 64)
	return n
}

// waitFor waits until a condition holds, or the server or ctx ends.
func (s *RedisServer) waitFor(ctx context.Context, what string, holds func() bool) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-s.proc.done:
			return fmt.Errorf("waiting for %s: server ended", what)
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
	return nil
}

func (s *RedisServer) logFile() string { return filepath.Join(s.Dir, "server.log") }

// logTail is the end of the server's log, for the message of a failed test.
func (s *RedisServer) logTail() string {
	b, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-logTailBytes):])
}
