package testenv

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// PgBouncer is a real PgBouncer owned by one test, which lends connections to a server by the transaction.
type PgBouncer struct {
	database

	server *PostgresServer
}

// StartPgBouncer starts a pooler before a server, and waits until it takes connections.
func StartPgBouncer(t Owner, server *PostgresServer) *PgBouncer {
	t.Helper()
	b := &PgBouncer{server: server}
	bin := program{
		names: []string{"pgbouncer", "/usr/sbin/pgbouncer"}, install: "package pgbouncer; run: make servers",
	}.find(t)
	b.database = database{t: t, kind: "pgbouncer", ready: b.listens, quit: syscall.SIGINT}
	b.command = func() *exec.Cmd {
		cmd := exec.Command(bin, b.file("pgbouncer.ini"))
		cmd.Dir, cmd.SysProcAttr = b.Dir, server.as.attributes() // it does not run as root
		return cmd
	}
	b.open()
	b.writeFile("users.txt", fmt.Sprintf("%q %q\n", databaseUser, databasePassword))
	b.writeFile("pgbouncer.ini", fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = plain
auth_file = %s
pool_mode = transaction
default_pool_size = 2
`, server.Port, b.Port, b.file("users.txt")))
	b.start()
	return b
}

func (b *PgBouncer) file(name string) string { return filepath.Join(b.Dir, name) }

// writeFile writes a file for the account that the pooler runs as.
func (b *PgBouncer) writeFile(name, text string) {
	b.t.Helper()
	err := os.WriteFile(b.file(name), []byte(text), 0o600)
	for _, path := range []string{b.Dir, b.file(name)} {
		if err == nil && b.server.as.other {
			err = os.Chown(path, b.server.as.uid, b.server.as.gid)
		}
	}
	if err != nil {
		b.t.Fatalf("pgbouncer: write %s: %v", name, err)
	}
}

// listens reports whether it takes connections.
func (b *PgBouncer) listens() bool {
	conn, err := net.DialTimeout("tcp", b.Addr(), commandTimeout)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// PreparingDSN is how the Go driver is told to use a database of the server through the pooler as if there were none:
// it prepares statements, each over one of the server's connections.
func (b *PgBouncer) PreparingDSN(db string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", databaseUser, databasePassword, b.Addr(), db)
}

// DSN is how it is told to use the database without preparing anything.
func (b *PgBouncer) DSN(db string) string {
	return b.PreparingDSN(db) + "&default_query_exec_mode=simple_protocol"
}
