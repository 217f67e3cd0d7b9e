package sqld

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	_ "github.com/go-sql-driver/mysql" // the driver
)

// mariadb runs MariaDB.
type mariadb struct{}

func (mariadb) makeDatabase(ctx context.Context, dir string) error {
	setup, err := findProgram("mariadb-install-db", "mysql_install_db")
	if err != nil {
		return err
	}
	account := fmt.Sprintf("GRANT ALL ON *.* TO '%s'@'127.0.0.1' IDENTIFIED BY '%s' WITH GRANT OPTION;\n",
		user, password)
	if err := os.WriteFile(filepath.Join(dir, "account.sql"), []byte(account), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, setup, asRoot("--no-defaults", "--datadir="+filepath.Join(dir, "data"),
		"--auth-root-authentication-method=normal", "--skip-test-db")...)
	return prepareWith(inOwnFolder(cmd, dir))
}

func (mariadb) command(dir, port string) (*exec.Cmd, error) {
	server, err := findProgram("mariadbd", "mysqld", "/usr/sbin/mariadbd")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(server, asRoot(
		"--no-defaults", // nothing of what the machine's own server is told
		"--datadir="+filepath.Join(dir, "data"),
		"--bind-address=127.0.0.1", "--port="+port, "--socket=mysql.sock",
		"--pid-file="+filepath.Join(dir, "server.pid"),
		"--init-file="+filepath.Join(dir, "account.sql"),
		"--innodb-flush-log-at-trx-commit=1",
		"--skip-log-bin", "--skip-name-resolve",
		"--max-connections=600", "--innodb-buffer-pool-size=256M", "--innodb-log-file-size=256M",
		"--character-set-server=utf8mb4", "--default-time-zone=+00:00",
	)...)
	cmd.SysProcAttr = dieWithUs()
	return inOwnFolder(cmd, dir), nil
}

// inOwnFolder makes a command put its temporary tables into the server's folder.
// Every server removes all it finds when it starts, also those of others.
func inOwnFolder(cmd *exec.Cmd, dir string) *exec.Cmd {
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	return cmd
}

// asRoot allows root to run the server, which has to be said.
func asRoot(args ...string) []string {
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return args
}

func (mariadb) driver() string  { return "mysql" }
func (mariadb) root() string    { return "mysql" }
func (mariadb) version() string { return "SELECT VERSION()" }

func (mariadb) dsn(port, database string) string {
	return fmt.Sprintf("%s:%s@tcp(127.0.0.1:%s)/%s?interpolateParams=true", user, password, port, database)
}

func (mariadb) url(port, database string) string {
	return fmt.Sprintf("mysql://%s:%s@127.0.0.1:%s/%s", user, password, port, database)
}
