package mincoord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// Role is the child's role.
const Role = "minimal-coordinator"

// Job tells the coordinator where its log goes.
type Job struct{ Dir, Profile string }

// Ready is where it listens.
type Ready struct{ URL string }

// Work is the life of the minimal coordinator.
func Work(ctx context.Context, pipe *child.Pipe) error {
	var job Job
	if err := pipe.Job(&job); err != nil {
		return err
	}
	end, err := child.Profile(job.Profile)
	if err != nil {
		return err
	}
	return errors.Join(serveUntilDone(ctx, job, pipe), end())
}

// serveUntilDone answers requests until there are no more orders.
func serveUntilDone(ctx context.Context, job Job, pipe *child.Pipe) error {
	log, err := openLog(filepath.Join(job.Dir, "minimal.log"))
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start minimal coordinator: %w", errors.Join(err, log.close()))
	}
	// As many idle connections as clients may come: none is made twice.
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	server := &http.Server{
		Handler:           &coordinator{log: log, client: &http.Client{Transport: transport}},
		ReadHeaderTimeout: time.Minute,
	}
	go func() { _ = server.Serve(listener) }()
	err = pipe.Serve(Ready{"http://" + listener.Addr().String()}, refuseOrder)
	return errors.Join(err, server.Shutdown(ctx), log.close())
}

// refuseOrder knows no orders.
func refuseOrder(name string, _ json.RawMessage) (any, error) {
	return nil, fmt.Errorf("no order is called %q", name)
}
