package testenv_test

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// database is what both kinds of database servers can do.
type database interface {
	Addr() string
	URL(db string) string
	CreateDatabase(name string)
	Kill()
	Freeze()
	Thaw()
	Restart()
	Stop()
}

// databases start one server of each kind.
func databases() map[string]func(testing.TB) database {
	return map[string]func(testing.TB) database{
		"mariadb":  func(t testing.TB) database { return testenv.StartMariaDB(t, nil) },
		"postgres": func(t testing.TB) database { return testenv.StartPostgres(t, nil) },
	}
}

// eachDatabase runs a test on a new server of each kind.
func eachDatabase(t *testing.T, test func(*testing.T, database)) {
	t.Helper()
	for kind, start := range databases() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

func TestDatabaseKeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, s database) {
		for i, end := range []func(){s.Kill, s.Stop, func() {}} {
			db := fmt.Sprintf("db%d", i)
			s.CreateDatabase(db)
			ask(t, s, db, "CREATE TABLE t (v INT)")
			ask(t, s, db, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
			end()
			start := time.Now()
			s.Restart()
			t.Logf("back after %v", time.Since(start))
			if got, want := ask(t, s, db, "SELECT v FROM t"), fmt.Sprint(i); got != want {
				t.Errorf("after restart %d: v = %q, want %q", i, got, want)
			}
		}
	})
}

func TestKilledDatabaseForgetsWhatWasNot(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, s database) {
		s.CreateDatabase("db")
		ask(t, s, "db", "CREATE TABLE t (v INT)")
		client := connect(t, s, "db")
		client.send(t, "BEGIN; INSERT INTO t VALUES (1); SELECT 'open';")
		client.expect(t, "open")
		s.Kill()
		if accepts(s.Addr()) {
			t.Error("a killed server takes connections")
		}
		client.send(t, "COMMIT; SELECT 'committed';")
		client.expect(t, "")
		s.Restart()
		if got := ask(t, s, "db", "SELECT COUNT(*) FROM t"); got != "0" {
			t.Errorf("rows after the crash = %s, want 0", got)
		}
	})
}

func TestPausedDatabaseAnswersLater(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, s database) {
		s.CreateDatabase("db")
		client := connect(t, s, "db")
		client.send(t, "SELECT 'before';")
		client.expect(t, "before")
		s.Freeze()
		client.send(t, "SELECT 'after';")
		select {
		case line := <-client.lines:
			t.Fatalf("a paused server answered: %q", line)
		case <-time.After(300 * time.Millisecond):
		}
		s.Thaw()
		client.expect(t, "after")
	})
}

func TestDatabaseEndsWithItsTest(t *testing.T) {
	t.Parallel()
	for kind, start := range databases() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var addr string
			t.Run("paused and connected", func(t *testing.T) {
				s := start(t)
				s.CreateDatabase("db")
				client := connect(t, s, "db")
				client.send(t, "SELECT 1;")
				client.expect(t, "1")
				addr = s.Addr()
				s.Freeze()
			})
			if accepts(addr) {
				t.Error("a paused server outlived its test")
			}
		})
	}
}

func TestDatabasesSideBySide(t *testing.T) {
	t.Parallel()
	for kind, start := range databases() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			a := start(t)
			t.Logf("ready after %v", time.Since(began))
			b := start(t)
			for _, s := range []database{a, b} {
				s.CreateDatabase("db")
				ask(t, s, "db", "CREATE TABLE t (v INT)")
			}
			ask(t, a, "db", "INSERT INTO t VALUES (1)")
			if got := ask(t, b, "db", "SELECT COUNT(*) FROM t"); got != "0" {
				t.Errorf("rows at the other server = %s, want 0", got)
			}
		})
	}
}

// ask runs statements with the server's own client and returns what they print.
func ask(t *testing.T, s database, db, sql string) string {
	t.Helper()
	cmd := clientOf(t, s, db)
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, out)
	}
	return strings.TrimSpace(string(out))
}

// session is a client that stays connected.
type session struct {
	in    io.Writer
	lines chan string // what it prints; closed when it ends
}

// connect starts a session, which ends with the test.
func connect(t *testing.T, s database, db string) *session {
	t.Helper()
	cmd := clientOf(t, s, db)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := &session{in: in, lines: make(chan string, 8)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(client.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			client.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	return client
}

func (c *session) send(t *testing.T, sql string) {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, sql); err != nil {
		t.Fatal(err)
	}
}

// expect waits for the next line, or for the end of the session when want is
// empty.
func (c *session) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-c.lines:
		if got != want {
			t.Fatalf("session: %q, want %q", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("session: no answer, want %q", want)
	}
}

// clientOf is the command line client of a server, told how to connect by its URL.
func clientOf(t *testing.T, s database, db string) *exec.Cmd {
	t.Helper()
	u, err := url.Parse(s.URL(db))
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme == "postgres" {
		return exec.Command("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1",
			u.String())
	}
	password, _ := u.User.Password()
	cmd := exec.Command("mariadb", "--no-defaults", "--batch", "--unbuffered", "--skip-column-names",
		"--skip-reconnect",
		"--protocol=tcp", "--host="+u.Hostname(), "--port="+u.Port(), "--user="+u.User.Username(),
		strings.TrimPrefix(u.Path, "/"))
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+password)
	return cmd
}
