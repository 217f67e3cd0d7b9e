package testenv

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func mariadbServer() program {
	return program{names: []string{"mariadbd", "mysqld", "/usr/sbin/mariadbd"}, install: mariadbInstall}
}

func mariadbSetup() program {
	return program{names: []string{"mariadb-install-db", "mysql_install_db"}, install: mariadbInstall}
}

func mariadbClient() program {
	return program{names: []string{"mariadb", "mysql"}, install: mariadbInstall}
}

const mariadbInstall = "package mariadb-server; run: make servers"

// MariaDBOptions says how a MariaDB server is set up.
type MariaDBOptions struct {
	// Args are appended to the command line, such as "--lock-wait-timeout=1".
	Args []string
}

// MariaDBServer is a real MariaDB server owned by one test. A commit is on disk
// before it is answered. See the methods of [PostgresServer], which it shares.
type MariaDBServer struct {
	database

	opts MariaDBOptions
}

// StartMariaDB starts a server and waits until it takes connections. There is no
// database in it but its own; see [MariaDBServer.CreateDatabase].
func StartMariaDB(t Owner, opts *MariaDBOptions) *MariaDBServer {
	t.Helper()
	s := &MariaDBServer{}
	if opts != nil {
		s.opts = *opts
	}
	bin, setup := mariadbServer().find(t), mariadbSetup().find(t)
	s.database = database{t: t, kind: "mariadb", ready: s.greets, quit: terminateSignal()}
	s.command = func() *exec.Cmd { return s.server(bin) }
	s.open()
	s.runOrFail("make data folder", s.inOwnFolder(exec.Command(setup, s.withUser("--no-defaults", "--datadir="+s.data(),
		"--auth-root-authentication-method=normal", "--skip-test-db")...)))
	s.writeAccounts()
	s.start()
	return s
}

// server is the command that runs the server.
func (s *MariaDBServer) server(bin string) *exec.Cmd {
	args := s.withUser(
		"--no-defaults", // nothing of what the machine's own server is told
		"--datadir="+s.data(),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", s.Port),
		"--socket=mysql.sock", // in the data folder; a whole path may be too long for a socket
		"--pid-file="+filepath.Join(s.Dir, "server.pid"),
		"--init-file="+s.accountsFile(),
		"--innodb-flush-log-at-trx-commit=1", // the default, and what the tests are about
		"--skip-log-bin",
		"--skip-name-resolve",
		"--max-connections=500",
		"--innodb-buffer-pool-size=32M",
		"--innodb-log-file-size=32M",
		"--character-set-server=utf8mb4",
		"--default-time-zone=+00:00",
	)
	cmd := s.inOwnFolder(exec.Command(bin, append(args, s.opts.Args...)...))
	cmd.SysProcAttr = dieWithParent()
	return cmd
}

// inOwnFolder makes a command put its temporary tables into the server's folder.
// Every server removes all it finds when it starts, also those of others.
func (s *MariaDBServer) inOwnFolder(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir, cmd.Env = s.Dir, append(os.Environ(), "TMPDIR="+s.Dir)
	return cmd
}

// withUser allows root to run the server, which has to be said.
func (s *MariaDBServer) withUser(args ...string) []string {
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return args
}

func (s *MariaDBServer) data() string { return filepath.Join(s.Dir, "data") }

func (s *MariaDBServer) accountsFile() string { return filepath.Join(s.Dir, "accounts.sql") }

// writeAccounts writes what the server runs whenever it starts.
func (s *MariaDBServer) writeAccounts() {
	s.t.Helper()
	script := fmt.Sprintf("GRANT ALL ON *.* TO '%s'@'127.0.0.1' IDENTIFIED BY '%s' WITH GRANT OPTION;\n",
		databaseUser, databasePassword)
	if err := os.WriteFile(s.accountsFile(), []byte(script), 0o600); err != nil {
		s.t.Fatalf("mariadb: write accounts: %v", err)
	}
}

// greets reports whether the server takes connections: it speaks first, and its
// first packet says which protocol it speaks, or why it does not.
func (s *MariaDBServer) greets() bool {
	const header, protocol = 4, 10
	conn, err := net.DialTimeout("tcp", s.Addr(), commandTimeout)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(commandTimeout))
	packet, err := bufio.NewReader(conn).Peek(header + 1)
	return err == nil && packet[header] == protocol
}

// CreateDatabase makes an empty database.
func (s *MariaDBServer) CreateDatabase(name string) {
	s.t.Helper()
	cmd := exec.Command(mariadbClient().find(s.t), "--no-defaults", "--protocol=tcp", "--host=127.0.0.1",
		fmt.Sprintf("--port=%d", s.Port), "--user="+databaseUser,
		"--execute=CREATE DATABASE `"+name+"`")
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+databasePassword)
	s.runOrFail("create database "+name, cmd)
}

// DSN is how the Go driver is told to use a database.
func (s *MariaDBServer) DSN(db string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?parseTime=true&loc=UTC", databaseUser, databasePassword, s.Addr(), db)
}

// URL is how Bedrock is told to use a database.
func (s *MariaDBServer) URL(db string) string {
	return fmt.Sprintf("mysql://%s:%s@%s/%s", databaseUser, databasePassword, s.Addr(), db)
}
