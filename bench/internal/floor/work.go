package floor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/bench/internal/child"
	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/bench/internal/sqld"
)

// Role is the child's role.
const Role = "floor"

// Job says which store is written to.
type Job struct {
	// Store is sqlite, mariadb, postgres or redis.
	Store string
	// Place is a folder for SQLite, an address for Redis, else a data source name.
	Place string
}

// size is that of a record: about that of a saga of two branches.
const size = 300

// Work is the life of a process that does nothing but write.
func Work(ctx context.Context, pipe *child.Pipe) error {
	var job Job
	if err := pipe.Job(&job); err != nil {
		return err
	}
	group, err := open(ctx, job)
	if err != nil {
		return err
	}
	err = pipe.Serve(nil, func(_ string, args json.RawMessage) (any, error) {
		var s load.Stretch
		if err := json.Unmarshal(args, &s); err != nil {
			return nil, err
		}
		return pairs(ctx, group, s)
	})
	return errors.Join(err, group.Close())
}

// pairs lets clients make two durable writes after one another: what a transaction
// needs at least.
func pairs(ctx context.Context, group *Group, s load.Stretch) (*load.Tally, error) {
	results := make([]chan error, s.Clients)
	records := make([][]byte, s.Clients)
	for i := range results {
		results[i], records[i] = make(chan error, 1), make([]byte, size)
	}
	return load.For(ctx, s.Clients, s.Length, func(_ context.Context, client int) error {
		if err := group.Write(records[client], results[client]); err != nil {
			return err
		}
		return group.Write(records[client], results[client])
	})
}

// open opens the job's store.
func open(ctx context.Context, job Job) (*Group, error) {
	switch job.Store {
	case "sqlite":
		return OpenSQLite(ctx, job.Place)
	case "redis":
		return OpenRedis(ctx, job.Place)
	}
	db, err := sqld.OpenPlace(job.Store, job.Place)
	if err != nil {
		return nil, err
	}
	switch job.Store {
	case "mariadb":
		return OpenMariaDB(ctx, db)
	case "postgres":
		return OpenPostgres(ctx, db)
	default:
		return nil, fmt.Errorf("no floor is known for %q", job.Store)
	}
}

// Start runs the floor of a store in a process of its own.
func Start(ctx context.Context, job Job) (*Writer, error) {
	process, err := child.Start(ctx, Role, job, nil)
	if err != nil {
		return nil, err
	}
	return &Writer{process}, nil
}

// Writer is the floor seen from the program that started it.
type Writer struct{ *child.Process }

// Run writes for a stretch.
func (w *Writer) Run(s load.Stretch) (*load.Tally, error) {
	tally := new(load.Tally)
	return tally, w.Ask("run", s, tally)
}
