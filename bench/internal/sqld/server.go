package sqld

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/child"
)

// The account that everything is done as.
const (
	user     = "bedrock"
	password = "bench" // the server listens on the loopback address only
)

// patience bounds how long a server may take to start or to stop.
const patience = 30 * time.Second

// Server is a database server on a free loopback port.
type Server struct {
	// Version is what the server says of itself.
	Version string

	kind kind
	port string
	dir  string
	cmd  *exec.Cmd
	gone chan struct{}
}

// kind is what the two servers do differently.
type kind interface {
	// makeDatabase makes the data folder.
	makeDatabase(ctx context.Context, dir string) error
	// command runs the server on a port.
	command(dir, port string) (*exec.Cmd, error)
	// driver is the database/sql driver's name, and its words for a database.
	driver() string
	dsn(port, database string) string
	// url is how Bedrock is told to use a database.
	url(port, database string) string
	// root is the database that is always there.
	root() string
	// version reads the server's version.
	version() string
}

// find returns how to run a server of that kind.
func find(name string) (kind, error) {
	switch name {
	case "mariadb":
		return mariadb{}, nil
	case "postgres":
		return newPostgres(), nil
	default:
		return nil, fmt.Errorf("no database server is called %q", name)
	}
}

// Start runs a server with its data in a new folder below dir and waits until it
// answers. The server dies with this process, whatever ends it.
func Start(ctx context.Context, name, dir string) (*Server, error) {
	k, err := find(name)
	if err != nil {
		return nil, err
	}
	port, err := child.FreePort(ctx)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	dir, err = os.MkdirTemp(dir, name+"-")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	s := &Server{kind: k, port: port, dir: dir, gone: make(chan struct{})}
	if err := s.start(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start %s on port %s: %w", name, port, err)
	}
	return s, nil
}

// start prepares the folder and runs the server in it.
func (s *Server) start(ctx context.Context) error {
	if err := s.kind.makeDatabase(ctx, s.dir); err != nil {
		return err
	}
	cmd, err := s.kind.command(s.dir, s.port)
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	go func() {
		_ = cmd.Wait()
		close(s.gone)
	}()
	return s.waitAnswering(ctx)
}

// waitAnswering returns once the server answers.
func (s *Server) waitAnswering(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	db, err := s.Open(s.kind.root())
	if err != nil {
		return err
	}
	defer db.Close()
	for {
		err := db.QueryRowContext(ctx, s.kind.version()).Scan(&s.Version)
		if err == nil {
			return nil
		}
		select {
		case <-s.gone:
			return errors.Join(err, s.lastWords())
		case <-ctx.Done():
			return errors.Join(err, s.lastWords())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// lastWords is the end of the server's log.
func (s *Server) lastWords() error {
	text, err := os.ReadFile(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return err
	}
	return errors.New(string(text[max(0, len(text)-1000):]))
}

// Process returns the server's process id.
func (s *Server) Process() int { return s.cmd.Process.Pid }

// Open connects to a database.
func (s *Server) Open(database string) (*sql.DB, error) {
	return sql.Open(s.kind.driver(), s.Place(database))
}

// Place is a database's data source name.
func (s *Server) Place(database string) string { return s.kind.dsn(s.port, database) }

// OpenPlace connects to a database of a server that another process has started.
func OpenPlace(kind, place string) (*sql.DB, error) {
	k, err := find(kind)
	if err != nil {
		return nil, err
	}
	return sql.Open(k.driver(), place)
}

// URL is how Bedrock is told to use a database.
func (s *Server) URL(database string) string { return s.kind.url(s.port, database) }

// Create makes an empty database.
func (s *Server) Create(ctx context.Context, database string) error {
	return s.root(ctx, "CREATE DATABASE "+database)
}

// Drop removes a database.
func (s *Server) Drop(ctx context.Context, database string) error {
	return s.root(ctx, "DROP DATABASE "+database)
}

func (s *Server) root(ctx context.Context, statement string) error {
	db, err := s.Open(s.kind.root())
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// Stop ends the server at once and removes its data.
func (s *Server) Stop() {
	if s.cmd != nil {
		// PostgreSQL's own children end when they miss their parent; a quick
		// shutdown takes them along.
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		select {
		case <-s.gone:
		case <-time.After(patience):
			_ = s.cmd.Process.Kill()
			<-s.gone
		}
	}
	_ = os.RemoveAll(s.dir)
}

// dieWithUs makes the kernel kill the server when this process ends.
func dieWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// prepareWith runs a program that makes the data folder.
func prepareWith(cmd *exec.Cmd) error {
	if words, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make data folder: %w: %s", err, words)
	}
	return nil
}

// findProgram finds a program on the path or in one of the given places.
func findProgram(names ...string) (string, error) {
	var errs []error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}
