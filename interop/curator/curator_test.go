package curator_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/zklock"
)

const (
	// version is the newest of Curator.
	version = "5.9.0"
	// session is how long either side may be silent.
	session = 3 * time.Second
	// atOnce is the time within which one has the lock who is woken: no session ends so soon.
	atOnce = session / 2
	// rounds is how often everything is done.
	rounds = 20
	// root is where the locks are.
	root = "/locks"
)

// holdsAt has this program be another one, which holds a lock of a kind at the servers of that address until it is
// killed.
const (
	holdsAt   = "BEDROCK_INTEROP_HOLDS_AT"
	holdsKind = "BEDROCK_INTEROP_HOLDS_KIND"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(holdsAt); addr != "" {
		holdForEver(addr, os.Getenv(holdsKind))
	}
	flag.Bool(matrix.UpdateFlag, false, "write docs/interop-curator.md from what was played")
	goleak.VerifyTestMain(m)
}

// holdForEver is the program that is killed.
func holdForEver(addr, kind string) {
	var err error
	for _, o := range objects() {
		if o.slug != kind {
			continue
		}
		var locks *lock.Client
		if locks, err = connect(addr, o.profile); err == nil {
			_, err = o.goLock(locks, kind).Lock(context.Background())
		}
	}
	if err == nil {
		fmt.Fprintln(os.Stdout, "held")
		select {}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// connect makes a client on names that are paths.
func connect(addr string, profile zklock.Profile) (*lock.Client, error) {
	if profile == zklock.Escaped {
		profile = zklock.Curator
	}
	ctx, cancel := context.WithTimeout(context.Background(), peer.Patience)
	defer cancel()
	return zklock.Connect(ctx, []string{addr}, &zklock.Options{
		Root: root, Profile: profile, Session: session, Lock: lock.Options{TTL: session / 2},
	})
}

// together is Bedrock and Curator on one ensemble.
type together struct {
	*testing.T

	at      matrix.Place
	seen    *matrix.Matrix
	server  *testenv.ZooKeeperServer // that both are connected to
	program *peer.Program
	locks   *lock.Client
	java    *peer.Java
}

// TestCurator plays all scenes with the real Curator, and compares what was seen with docs/interop-curator.md.
func TestCurator(t *testing.T) {
	peer.CheckTools(t)
	ensembles := map[string]int{"one server": 1, "three servers": 3}
	seen := &matrix.Matrix{
		Library: "Curator", File: "../../docs/interop-curator.md", Preface: preface, AtOnce: atOnce,
		Scenes: len(ensembles) * len(scenes()),
	}
	source := peer.Source{Folder: ".", Properties: []string{"curator.version=" + version}, Main: "Peer"}
	one := testenv.StartZooKeeper(t, nil)[0]
	program, err := source.Build(t.TempDir(), one.Addr(), fmt.Sprint(session.Milliseconds()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { seen.Compare(t) }) // when all scenes are over, which are played side by side
	for topology, n := range ensembles {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			server := testenv.StartZooKeeper(t, &testenv.ZooKeeperOptions{Servers: n})[n-1]
			java := startJava(t, program, server)
			for name, play := range scenes() {
				t.Run(name, func(t *testing.T) {
					e := &together{
						T: t, at: matrix.Place{Topology: topology, Version: version}, seen: seen, server: server,
						program: program, java: java.In(t),
					}
					e.locks = e.client(zklock.Curator)
					play(e)
					seen.Played(name, e.at)
				})
			}
		})
	}
}

// locksOf returns the client for a kind of lock.
func (e *together) locksOf(o *object) *lock.Client {
	e.Helper()
	if o.profile == zklock.CuratorLatch {
		return e.client(o.profile)
	}
	return e.locks
}

// client returns one of Bedrock.
func (e *together) client(profile zklock.Profile) *lock.Client {
	e.Helper()
	locks, err := connect(e.server.Addr(), profile)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), peer.Patience)
		defer cancel()
		if err := locks.Stop(ctx); err != nil {
			e.Error(err)
		}
	})
	return locks
}

func (e *together) anotherJava() *peer.Java {
	e.Helper()
	return startJava(e.T, e.program, e.server)
}

func startJava(t *testing.T, program *peer.Program, server *testenv.ZooKeeperServer) *peer.Java {
	t.Helper()
	return peer.Start(t, program, server.Addr(), fmt.Sprint(session.Milliseconds()))
}

// anotherGo starts a process of Bedrock that has a lock of that kind and name until it is killed.
func (e *together) anotherGo(o *object) *exec.Cmd {
	e.Helper()
	program, err := os.Executable()
	if err != nil {
		e.Fatal(err)
	}
	dies := exec.CommandContext(e.Context(), program)
	dies.Env = append(os.Environ(), holdsAt+"="+e.server.Addr(), holdsKind+"="+o.slug)
	out, err := dies.StdoutPipe()
	if err != nil {
		e.Fatal(err)
	}
	if err := dies.Start(); err != nil {
		e.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		e.Fatalf("the process that is to be killed has no lock: %v", err)
	}
	return dies
}

// take takes a lock that must be had soon.
func (e *together) take(m lock.Lockable) *lock.Lease {
	e.Helper()
	lease, err := m.Lock(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return lease
}

func (e *together) unlock(l *lock.Lease) {
	e.Helper()
	if err := l.Unlock(e.Context()); err != nil {
		e.Fatal(err)
	}
}

// refused checks that Go cannot have a lock.
func (e *together) refused(m lock.Lockable) {
	e.Helper()
	lease, err := m.TryLock(e.Context())
	if err == nil {
		e.Fatalf("token %d was granted while Java has it", lease.Token())
	}
	if !errors.Is(err, lock.ErrHeld) {
		e.Fatal(err)
	}
}

// Who waits.
const (
	byGo   = false
	byJava = true
)

// untilWatched waits until one of them waits for a lock of that name: it watches a node there.
func (e *together) untilWatched(name string, java bool) {
	e.Helper()
	session := e.java.Do("session", "session", path(name), 0)
	e.eventually("somebody waits for "+name, func() bool {
		return slices.ContainsFunc(watchers(e.server.Ask("wchp"), path(name)+"/"), func(watcher string) bool {
			return (watcher == session) == java
		})
	})
}

// watches is how many watches the server keeps.
func (e *together) watches() int {
	e.Helper()
	_, text, found := strings.Cut(e.server.Ask("mntr"), "zk_watch_count\t")
	n, err := strconv.Atoi(text[:max(0, strings.IndexByte(text, '\n'))])
	if !found || err != nil {
		e.Fatalf("the server does not count its watches: %v", err)
	}
	return n
}

// untilContended waits until so many sessions watch a node of a lock of that name: those who wait, and holders of
// Bedrock, who watch their own.
func (e *together) untilContended(name string, n int) {
	e.Helper()
	e.eventually("enough contend for "+name, func() bool {
		sessions := watchers(e.server.Ask("wchp"), path(name)+"/")
		slices.Sort(sessions)
		return len(slices.Compact(sessions)) >= n
	})
}

// eventually waits until cond holds.
func (e *together) eventually(what string, cond func() bool) {
	e.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(peer.Patience); !cond(); <-tick.C {
		if time.Now().After(deadline) {
			e.Fatalf("waited in vain: %s; who watches:\n%s", what, e.server.Ask("wchp"))
		}
	}
}

// watchers are the sessions that watch nodes with that prefix: a server lists those of each node below it.
func watchers(list, prefix string) (sessions []string) {
	below := false
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		if session, ok := strings.CutPrefix(line, "\t"); !ok {
			below = strings.HasPrefix(line, prefix)
		} else if below {
			sessions = append(sessions, session)
		}
	}
	return sessions
}
