package participants

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// Role is the child's role.
const Role = "participants"

// Job says how the participants behave.
type Job struct {
	// Addr is where they listen; empty: on any port.
	Addr string
	// Delay is how long each call takes them.
	Delay time.Duration
	// Track makes them count calls and transactions.
	Track bool
}

// ready is where the participants listen.
type ready struct {
	// Addr is that of the two that answer, Hanging that of one that does not.
	Addr, Hanging string
	// Since is when they began to.
	Since time.Time
}

// Work is the life of the participants.
func Work(ctx context.Context, pipe *child.Pipe) error {
	var job Job
	if err := pipe.Job(&job); err != nil {
		return err
	}
	s := &service{delay: job.Delay, track: job.Track, finished: make(map[string]struct{})}
	hanging, err := listenAt(ctx, "", http.HandlerFunc(hang))
	if err != nil {
		return err
	}
	since := time.Now()
	addr, err := listenAt(ctx, job.Addr, s)
	if err != nil {
		return err
	}
	return pipe.Serve(ready{addr, hanging, since}, func(name string, _ json.RawMessage) (any, error) {
		if name != orderStats {
			return nil, fmt.Errorf("no order is called %q", name)
		}
		return s.stats(), nil
	})
}

const orderStats = "stats"

// listenAt serves handler until the process ends.
func listenAt(ctx context.Context, addr string, handler http.Handler) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", cmp.Or(addr, "127.0.0.1:0"))
	if err != nil {
		return "", fmt.Errorf("start participants: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: hangs}
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), nil
}

// Services are the participants as seen from the program that started them.
type Services struct {
	// Addr is host and port of the two that answer.
	Addr string
	// Hanging is host and port of the one that does not.
	Hanging string
	// Since is when they came up.
	Since time.Time

	process *child.Process
}

// Start runs the participants in a process of their own.
func Start(ctx context.Context, job Job) (*Services, error) {
	var r ready
	process, err := child.Start(ctx, Role, job, &r)
	if err != nil {
		return nil, err
	}
	return &Services{Addr: r.Addr, Hanging: r.Hanging, Since: r.Since, process: process}, nil
}

// Reserve returns an address that participants can be started at later: nobody
// else listens there now.
func Reserve(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr := listener.Addr().String()
	return addr, errors.Join(listener.Close())
}

// Stats returns what they have seen.
func (s *Services) Stats() (stats Stats, err error) {
	err = s.process.Ask(orderStats, nil, &stats)
	return stats, err
}

// Stop ends them at once: whoever calls is cut off.
func (s *Services) Stop() { s.process.Kill() }

// URLs of the two participants at an address.
const (
	firstBranch = "/a/"
	lastBranch  = "/b/"
)

// First returns the URL of an operation of the first participant at addr.
func First(addr, operation string) string { return "http://" + addr + firstBranch + operation }

// Last returns the URL of an operation of the second participant at addr.
func Last(addr, operation string) string { return "http://" + addr + lastBranch + operation }
