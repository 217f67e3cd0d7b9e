package txns

import (
	"context"
	"io"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// job is what a process is started for.
type job struct {
	Role string // replica or service
	Name string
	Life string
	Dir  string
	Addr string
	Seed uint64
	// Of a replica: its store, and the service that its functions call.
	Store   string
	Service string
	Lease   time.Duration
	// Of the service: where the accounts are, and the replicas.
	Accounts string
	Replicas []string
}

// Work is a process of the run, until its standard input ends.
func Work(ctx context.Context, getenv func(string) string, stdin io.Reader) error {
	var j job
	if err := stage.Job(getenv, &j); err != nil {
		return err
	}
	ctx, cancel := stage.UntilDismissed(ctx, stdin)
	defer cancel()
	if j.Role == roleReplica {
		return runReplica(ctx, &j)
	}
	return runService(ctx, &j)
}

const (
	roleReplica = "replica"
	roleService = "service"
)
