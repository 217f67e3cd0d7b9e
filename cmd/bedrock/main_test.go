package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// TestMain makes this test binary serve as the program too.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"bedrock": main})
}

// leakChecked fails when tests leave a goroutine behind.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	// Under nohup the scripts would inherit that SIGHUP is ignored, and a shell
	// cannot trap what was ignored when it started. Programs started by one that
	// handles a signal begin with its default.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	code := l.m.Run()
	signal.Stop(hangups)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestScripts runs the scripts in testdata/script, each with a Redis of its own
// if its name begins with redis_, and with three if it begins with several.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := ""
			switch {
			case strings.HasPrefix(name, "redis_"):
				backend = "redis://" + testenv.Redis(t, nil).Addr()
			case strings.HasPrefix(name, "several"):
				_, urls := threeServers(t)
				backend = strings.Join(urls, " ")
			}
			runScript(t, file, map[string]string{"BEDROCK_BACKEND": backend})
		})
	}
}

// threeServers starts servers that know nothing of each other.
func threeServers(t *testing.T) (servers []*testenv.RedisServer, urls []string) {
	t.Helper()
	for range 3 {
		server := testenv.Redis(t, nil)
		servers, urls = append(servers, server), append(urls, "redis://"+server.Addr())
	}
	return servers, urls
}

// TestStores runs two servers on each kind of store that servers can share.
func TestStores(t *testing.T) {
	for name, start := range map[string]func(*testing.T) string{
		"mariadb":  mariadb,
		"postgres": postgres,
		"redis": func(t *testing.T) string {
			return "redis://" + testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF}).Addr()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScript(t, "testdata/stores/replicas.txtar", map[string]string{
				"BEDROCK_STORE": start(t),
			})
		})
	}
}

// TestLocks has the commands for locks on each backend that is no Redis, which has scripts of its own.
func TestLocks(t *testing.T) {
	for name, c := range map[string]struct {
		start           func(*testing.T) string
		profile, doctor string
	}{
		"etcd": {func(t *testing.T) string {
			return "etcd://" + testenv.StartEtcd(t, nil).Members[0].Addr()
		}, "?profile=compatible", "one member"},
		"zookeeper": {func(t *testing.T) string {
			return "zk://" + testenv.StartZooKeeper(t, nil)[0].Addr()
		}, "?profile=curator", "session"},
		"mariadb":  {mariadb, "?profile=named", "who waits looks again"},
		"postgres": {postgres, "&profile=advisory", "by its clock"},
		"sqlite": {func(t *testing.T) string {
			return "sqlite:" + filepath.Join(t.TempDir(), "locks.db")
		}, "", "file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := c.start(t)
			runScript(t, "testdata/locks/commands.txtar", map[string]string{
				"BEDROCK_BACKEND": backend, "PROFILE": backend + c.profile, "DOCTOR": c.doctor,
			})
		})
	}
}

func mariadb(t *testing.T) string {
	t.Helper()
	server := testenv.StartMariaDB(t, nil)
	server.CreateDatabase("bedrock")
	return server.URL("bedrock")
}

func postgres(t *testing.T) string {
	t.Helper()
	server := testenv.StartPostgres(t, nil)
	server.CreateDatabase("bedrock")
	return server.URL("bedrock")
}

// runScript runs one script with variables of its environment set.
func runScript(t *testing.T, file string, variables map[string]string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Files:    []string{file},
		Deadline: time.Now().Add(2 * time.Minute), // a script may wait for what does not come
		Setup: func(env *testscript.Env) error {
			for name, value := range variables {
				env.Setenv(name, value)
			}
			env.Setenv("HOME", env.WorkDir)       // for the locks of the machine
			env.Setenv("ADDR", testenv.Nobody(t)) // for servers; commands look for one at the first
			env.Setenv("OTHER", testenv.Nobody(t))
			env.Setenv("BEDROCK_SERVER", "http://"+env.Getenv("ADDR"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": expectCode, "await": await, "certificate": certificate,
		},
	})
}

// await waits until a server says that all is well: the one commands look for, or the
// one at the address given.
func await(ts *testscript.TestScript, _ bool, args []string) {
	server := ts.Getenv("BEDROCK_SERVER")
	if len(args) > 0 {
		server = "http://" + args[0]
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !healthy(ctx, server) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ts.Fatalf("no server at %s", server)
		}
	}
}

func healthy(ctx context.Context, address string) bool {
	client := http.Client{Transport: anyServer()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/healthz", nil)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// expectCode runs a program and wants an exit code, as in
// "code 75 bedrock lock ls".
func expectCode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: code N program [arg…]")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%v: exit code %s, want %s", args[1:], got, args[0])
	}
}
