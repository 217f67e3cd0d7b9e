package sqld

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
)

// postgres runs PostgreSQL, which refuses to be run by root.
type postgres struct {
	credential *syscall.Credential // nil: as we are
}

func newPostgres() postgres {
	if os.Geteuid() != 0 {
		return postgres{}
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := osuser.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(account.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(account.Gid, 10, 32)
		if errUID == nil && errGID == nil {
			return postgres{credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		}
	}
	return postgres{} // it will say what is wrong
}

func (p postgres) makeDatabase(ctx context.Context, dir string) error {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return err
	}
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	for _, path := range []string{dir, secret} {
		if err := p.give(path); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, initdb, "-D", filepath.Join(dir, "data"), "-U", user, "--pwfile="+secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C")
	cmd.Dir, cmd.SysProcAttr = dir, p.attributes()
	return prepareWith(cmd)
}

// give makes a file the server's.
func (p postgres) give(path string) error {
	if p.credential == nil {
		return nil
	}
	return os.Chown(path, int(p.credential.Uid), int(p.credential.Gid))
}

func (p postgres) command(dir, port string) (*exec.Cmd, error) {
	server, err := postgresProgram("postgres")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(server, "-D", filepath.Join(dir, "data"), "-p", port,
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "fsync=on", "-c", "synchronous_commit=on",
		"-c", "max_connections=600", "-c", "shared_buffers=256MB", "-c", "max_wal_size=2GB")
	cmd.Dir, cmd.SysProcAttr = dir, p.attributes()
	return cmd, nil
}

func (p postgres) attributes() *syscall.SysProcAttr {
	attributes := dieWithUs()
	attributes.Credential = p.credential
	return attributes
}

// postgresProgram finds a program where Debian hides it, too.
func postgresProgram(name string) (string, error) {
	places, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	return findProgram(append([]string{name}, places...)...)
}

func (postgres) driver() string  { return "pgx" }
func (postgres) root() string    { return "postgres" }
func (postgres) version() string { return "SHOW server_version" }

func (p postgres) dsn(port, database string) string { return p.url(port, database) }

func (postgres) url(port, database string) string {
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%s/%s?sslmode=disable", user, password, port, database)
}
