package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	_ "modernc.org/sqlite" // the driver

	"github.com/bedrock-go/bedrock/bench/internal/redisd"
	"github.com/bedrock-go/bedrock/bench/internal/sqld"
	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// several is how many servers of Redis are started: as many as any subject needs.
const several = 5

// database is where locks are in a server of databases.
const database = "bench"

// Server is a store that runs.
type Server struct {
	// Store is which one it is.
	Store subject.Store
	// Addr is where subjects find it, and More where they find others that know nothing of it.
	Addr string
	More []string
	// Version is what it says of itself.
	Version string
	// Process is its process, 0 where there is none.
	Process int

	dir  string
	stop func()
}

// Start runs a store with its data below dir, or where temporary files go if that is empty. Its server dies with this
// process, whatever ends it.
func Start(ctx context.Context, store subject.Store, dir string) (*Server, error) {
	// Not only ours: PostgreSQL runs as somebody else when we are root, and must get to its data.
	dir, err := os.MkdirTemp(dir, "bedrock-bench-")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", store, err)
	}
	s := &Server{Store: store, dir: dir, stop: func() {}}
	err = os.Chmod(dir, 0o711) //nolint:gosec // its subfolders are closed
	if err == nil {
		err = s.start(ctx)
	}
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("start %s: %w", store, err)
	}
	return s, nil
}

// Stop ends the server and removes its data.
func (s *Server) Stop() {
	s.stop()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

func (s *Server) start(ctx context.Context) error {
	switch s.Store {
	case subject.Redis:
		return s.startRedis(ctx)
	case subject.Etcd:
		return s.startEtcd(ctx)
	case subject.ZooKeeper:
		return s.startZooKeeper(ctx)
	case subject.SQLite:
		return s.openFolder(ctx)
	default:
		return s.startDatabase(ctx)
	}
}

// FindRedis returns servers of Redis that somebody else has started, and that go on when it is stopped.
func FindRedis(ctx context.Context, addrs []string) (*Server, error) {
	version, err := redisVersion(ctx, addrs[0])
	if err != nil {
		return nil, err
	}
	return &Server{
		Store: subject.Redis, Addr: addrs[0], More: addrs[1:], Version: version, stop: func() {},
	}, nil
}

func (s *Server) startRedis(ctx context.Context) error {
	servers, err := redisd.StartGroup(ctx, several)
	if err != nil {
		return err
	}
	s.stop = servers.Stop
	addrs := servers.Addrs()
	s.Addr, s.More, s.Process = addrs[0], addrs[1:], servers[0].Process()
	s.Version, err = redisVersion(ctx, s.Addr)
	return err
}

// redisVersion asks a server of Redis, which may be anybody's.
func redisVersion(ctx context.Context, addr string) (string, error) {
	monitor, err := redisd.Watch(ctx, addr)
	if err != nil {
		return "", fmt.Errorf("reach redis at %s: %w", addr, err)
	}
	defer monitor.Close()
	return monitor.Version(ctx)
}

func (s *Server) startDatabase(ctx context.Context) error {
	server, err := sqld.Start(ctx, s.Store.String(), s.dir)
	if err != nil {
		return err
	}
	s.stop = server.Stop
	s.Addr, s.Version, s.Process = server.Place(database), server.Version, server.Process()
	return server.Create(ctx, database)
}

// openFolder asks SQLite, which has no server: its files are in the folder.
func (s *Server) openFolder(ctx context.Context) error {
	s.Addr = s.dir
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	return errors.Join(db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&s.Version), db.Close())
}
