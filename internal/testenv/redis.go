package testenv

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Persistence is what a Redis server keeps on disk.
type Persistence uint8

// The ways to persist, from nothing to every write.
const (
	PersistNone Persistence = iota // nothing survives a restart
	PersistRDB                     // a snapshot, written when the server is stopped politely
	PersistLog                     // every write is in a log before it is answered; the machine must not crash
	PersistAOF                     // every write is on disk before it is answered
)

// RedisOptions says how a Redis server is set up. The zero value is an open
// server without persistence.
type RedisOptions struct {
	// Password of the default user; defaults to none.
	Password string
	// Users are further users in the words of ACL SETUSER, such as
	// "alice on >secret ~* &* +@all".
	Users []string
	// TLS makes the port speak TLS only, with a certificate made for the test.
	TLS bool
	// Persistence defaults to PersistNone.
	Persistence Persistence
	// MaxMemory, such as "3mb", and Policy, such as "allkeys-lru", bound the
	// memory; default to no bound.
	MaxMemory string
	Policy    string
	// ReplicaOf makes the server a replica; its password and TLS are taken over.
	ReplicaOf *RedisServer
	// Args are appended to the command line, such as "--hz", "100".
	Args []string
}

// RedisServer is a real Redis server owned by one test. Its methods end the test
// when they fail and are called from the test's own goroutine, except for Try,
// Freeze, Thaw and Kill.
type RedisServer struct {
	// Port is the server's port on 127.0.0.1; it stays the same over restarts.
	Port int
	// Dir holds configuration, data and log.
	Dir string
	// CAFile is the certificate authority of a server with TLS.
	CAFile string

	t    Owner
	bin  string
	opts RedisOptions
	tls  *tls.Config
	proc *process
}

// Redis starts a server and waits until it answers.
func Redis(t Owner, opts *RedisOptions) *RedisServer {
	t.Helper()
	s := newRedis(t, opts)
	s.start()
	return s
}

// newRedis prepares a server without starting it.
func newRedis(t Owner, opts *RedisOptions) *RedisServer {
	t.Helper()
	s := &RedisServer{t: t, bin: redisServer().find(t), Dir: t.TempDir()}
	if opts != nil {
		s.opts = *opts
	}
	p, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	s.Port = p.number
	t.Cleanup(func() {
		s.Kill()
		p.release()
	})
	s.inherit()
	s.secure()
	return s
}

// inherit takes over what a replica shares with its master.
func (s *RedisServer) inherit() {
	if master := s.opts.ReplicaOf; master != nil {
		s.opts.Password, s.opts.TLS = master.opts.Password, master.opts.TLS
		s.tls, s.CAFile = master.tls, master.CAFile
	}
}

// Addr is the server's address.
func (s *RedisServer) Addr() string { return loopback(s.Port) }

// Password is the default user's password.
func (s *RedisServer) Password() string { return s.opts.Password }

// TLS is what a client needs to connect, nil without TLS.
func (s *RedisServer) TLS() *tls.Config {
	if s.tls == nil {
		return nil
	}
	return s.tls.Clone()
}

// Do runs a command as the default user and returns its reply: a string, an
// int64, nil or a []any of these.
func (s *RedisServer) Do(args ...any) any {
	s.t.Helper()
	reply, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("redis %s: %v: %v", s.Addr(), args, err)
	}
	return reply
}

// Try is Do for commands that may fail. An error answered by the server is a
// [ReplyError].
func (s *RedisServer) Try(args ...any) (any, error) {
	command := make([]string, len(args))
	for i, arg := range args {
		command[i] = fmt.Sprint(arg)
	}
	if s.opts.Password == "" {
		return sendCommands(s.Addr(), s.tls, command)
	}
	return sendCommands(s.Addr(), s.tls, []string{"AUTH", s.opts.Password}, command)
}

// Info returns one field of INFO, empty when it is absent.
func (s *RedisServer) Info(field string) string {
	s.t.Helper()
	return infoField(s.Do("INFO", "everything"), field)
}

// IsMaster reports whether a server takes itself for a master. One that does not answer is none.
func (s *RedisServer) IsMaster() bool {
	reply, err := s.Try("INFO", "replication")
	return err == nil && infoField(reply, "role") == "master"
}

// infoField picks a field from an INFO-like reply.
func infoField(reply any, field string) string {
	text, _ := reply.(string)
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), field+":"); ok {
			return value
		}
	}
	return ""
}

// Freeze suspends the server: connections stay open, nothing is answered.
func (s *RedisServer) Freeze() { s.proc.sendSignal(freezeSignal()) }

// Thaw lets a frozen server go on.
func (s *RedisServer) Thaw() { s.proc.sendSignal(thawSignal()) }

// Kill ends the server at once, as a crash would.
func (s *RedisServer) Kill() {
	if s.proc != nil {
		s.proc.kill()
	}
}

// Stop ends the server politely, so that it may write a snapshot.
func (s *RedisServer) Stop() {
	s.t.Helper()
	s.Thaw()
	s.proc.sendSignal(terminateSignal())
	select {
	case <-s.proc.done:
	case <-time.After(commandTimeout):
		s.Kill()
		s.t.Fatalf("redis %s: did not stop in %v\n%s", s.Addr(), commandTimeout, s.logTail())
	}
}

// Restart stops the server if it still runs and starts it again on the same
// port; without keepData it comes back empty.
func (s *RedisServer) Restart(keepData bool) {
	s.t.Helper()
	if !s.proc.isGone() {
		s.Stop()
	}
	if !keepData {
		s.removeData()
	}
	s.start()
}

// removeData deletes what persistence has left. A cluster node's nodes.conf is
// configuration, not data.
func (s *RedisServer) removeData() {
	s.t.Helper()
	for _, name := range []string{"dump.rdb", "appendonlydir"} {
		if err := os.RemoveAll(filepath.Join(s.Dir, name)); err != nil {
			s.t.Fatalf("redis %s: remove data: %v", s.Addr(), err)
		}
	}
}
