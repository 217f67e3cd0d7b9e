package testenv

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// postgresProgram is one of PostgreSQL's programs. Debian and Homebrew keep them
// off the PATH, one folder per version; the newest is taken.
func postgresProgram(name string) program {
	var names []string
	for _, folders := range []string{
		"/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin",
	} {
		found, _ := filepath.Glob(filepath.Join(folders, name)) // the pattern is right
		names = append(names, found...)
	}
	slices.Reverse(names)
	return program{names: append(names, name), install: "package postgresql; run: make servers"}
}

// PostgresOptions says how a PostgreSQL server is set up.
type PostgresOptions struct {
	// Args are appended to the command line, such as "-c", "lock_timeout=1s".
	Args []string
}

// PostgresServer is a real PostgreSQL server owned by one test. A commit is on
// disk before it is answered, and transactions can be prepared.
type PostgresServer struct {
	database

	opts PostgresOptions
	as   account
}

// StartPostgres starts a server and waits until it takes connections. There is
// no database in it but its own; see [PostgresServer.CreateDatabase].
func StartPostgres(t Owner, opts *PostgresOptions) *PostgresServer {
	t.Helper()
	s := &PostgresServer{}
	if opts != nil {
		s.opts = *opts
	}
	bin, setup := postgresProgram("postgres").find(t), postgresProgram("initdb").find(t)
	s.database = database{t: t, kind: "postgres", ready: s.asksForPassword, quit: syscall.SIGINT}
	s.command = func() *exec.Cmd { return s.server(bin) }
	s.open()
	s.handOver()
	s.initialise(setup)
	s.start()
	return s
}

// handOver gives the folder to the account the server runs as.
func (s *PostgresServer) handOver() {
	s.t.Helper()
	as, err := postgresAccount()
	if err != nil {
		s.t.Fatal(err)
	}
	s.as = as
	if as.other {
		if err := os.Chown(s.Dir, as.uid, as.gid); err != nil {
			s.t.Fatalf("postgres: hand over folder: %v", err)
		}
	}
}

// initialise makes the data folder. That it is not forced to disk matters only
// to a machine that loses power.
func (s *PostgresServer) initialise(setup string) {
	s.t.Helper()
	password := filepath.Join(s.Dir, "password")
	if err := os.WriteFile(password, []byte(databasePassword), 0o600); err != nil {
		s.t.Fatalf("postgres: write password: %v", err)
	}
	if s.as.other {
		if err := os.Chown(password, s.as.uid, s.as.gid); err != nil {
			s.t.Fatalf("postgres: hand over password: %v", err)
		}
	}
	s.runOrFail("make data folder", s.asAccount(exec.Command(setup, "--pgdata="+s.data(), "--no-sync",
		"--username="+databaseUser, "--pwfile="+password, "--auth=scram-sha-256",
		"--encoding=UTF8", "--no-locale")))
}

// server is the command that runs the server.
func (s *PostgresServer) server(bin string) *exec.Cmd {
	args := []string{
		"-D", s.data(),
		"-c", "listen_addresses=127.0.0.1",
		"-c", fmt.Sprintf("port=%d", s.Port),
		"-c", "unix_socket_directories=",
		"-c", "fsync=on", // the default, and what the tests are about
		"-c", "max_connections=300",
		"-c", "max_prepared_transactions=100",
		"-c", "shared_buffers=32MB",
		"-c", "timezone=UTC",
	}
	return s.asAccount(exec.Command(bin, append(args, s.opts.Args...)...))
}

// asAccount makes a command run as the server's account, in a folder it may see.
func (s *PostgresServer) asAccount(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir, cmd.SysProcAttr = s.Dir, s.as.attributes()
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	return cmd
}

func (s *PostgresServer) data() string { return filepath.Join(s.Dir, "data") }

// asksForPassword reports whether the server takes connections: it answers a
// start-up message with a request to authenticate, and with an error before.
func (s *PostgresServer) asksForPassword() bool {
	conn, err := net.DialTimeout("tcp", s.Addr(), commandTimeout)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(commandTimeout))
	if _, err := conn.Write(startupMessage()); err != nil {
		return false
	}
	var kind [1]byte
	_, err = io.ReadFull(conn, kind[:])
	return err == nil && kind[0] == 'R'
}

// startupMessage opens a connection: length, protocol 3.0, parameters.
func startupMessage() []byte {
	const protocol = 3 << 16
	parameters := "user\x00" + databaseUser + "\x00database\x00postgres\x00\x00"
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(parameters)))
	b = binary.BigEndian.AppendUint32(b, protocol)
	return append(b, parameters...)
}

// CreateDatabase makes an empty database.
func (s *PostgresServer) CreateDatabase(name string) {
	s.t.Helper()
	s.runOrFail("create database "+name, exec.Command(postgresProgram("psql").find(s.t), "--no-psqlrc", "--quiet",
		"--command=CREATE DATABASE \""+name+"\"", s.URL("postgres")))
}

// DSN is how the Go driver is told to use a database: by its URL.
func (s *PostgresServer) DSN(db string) string { return s.URL(db) }

// URL is how Bedrock is told to use a database.
func (s *PostgresServer) URL(db string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", databaseUser, databasePassword, s.Addr(), db)
}
