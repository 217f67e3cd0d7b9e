// Package redisd runs a Redis server for the benchmark and reads its counters.
package redisd

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// patience bounds how long the server may take to start or to stop.
const patience = 10 * time.Second

// Server is a redis-server child process on a free loopback port.
type Server struct {
	// Addr is where it listens.
	Addr string

	process *exec.Cmd
}

// Start runs redis-server without persistence in a temporary directory and
// waits until it answers. The server dies with this process, whatever ends it.
func Start(ctx context.Context) (*Server, error) {
	// The directory is needed for the start only: the server writes nothing. So
	// it is gone even if this process is killed later.
	dir, err := os.MkdirTemp("", "bedrock-bench-")
	if err != nil {
		return nil, fmt.Errorf("start redis-server: %w", err)
	}
	defer os.RemoveAll(dir)
	return start(ctx, dir, "--appendonly", "no")
}

// StartDurable runs redis-server with its data in dir. What it has answered is on
// the disk.
func StartDurable(ctx context.Context, dir string) (*Server, error) {
	return start(ctx, dir, "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction")
}

// start runs redis-server with these settings and the usual ones.
func start(ctx context.Context, dir string, settings ...string) (*Server, error) {
	port, err := child.FreePort(ctx)
	if err != nil {
		return nil, fmt.Errorf("start redis-server: %w", err)
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", port)}
	s.process = exec.Command("redis-server", append([]string{
		"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--loglevel", "warning",
	}, settings...)...)
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start redis-server: %w", err)
	}
	if err := s.waitListening(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start redis-server on %s: %w", s.Addr, err)
	}
	return s, nil
}

// Process returns the server's process id.
func (s *Server) Process() int { return s.process.Process.Pid }

// Stop ends the server at once: it holds nothing worth an orderly shutdown.
func (s *Server) Stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// waitListening returns once the server accepts connections.
func (s *Server) waitListening(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", s.Addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}
