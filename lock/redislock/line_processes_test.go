package redislock_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// waiterVariable has this program wait in line on the server of that address, see waitInLine.
const waiterVariable = "BEDROCK_REDISLOCK_WAITS_AT"

const (
	lineName = "line"
	lineTTL  = 2 * time.Second
)

func fairMutex(locks *lock.Client) *lock.Mutex {
	return locks.Mutex(lineName, &lock.MutexOptions{Fair: true, TTL: lineTTL})
}

// waitInLine is the main function of a process that wants a fair lock once. It says with which token it has had it.
func waitInLine(addr string) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3) // its parent is gone
	}()
	locks, err := redislock.New(goredis.Wrap(goredisclient.NewClient(&goredisclient.Options{Addr: addr})), nil)
	if err != nil {
		slog.Error("cannot wait", "err", err)
		return 1
	}
	lease, err := fairMutex(locks).Lock(context.Background())
	if err != nil {
		slog.Error("not served", "err", err)
		return 1
	}
	fmt.Fprintln(os.Stdout, lease.Token())
	if err := lease.Unlock(context.Background()); err != nil {
		slog.Error("not given back", "err", err)
		return 1
	}
	return 0
}

// lineProcess is a process that waits in line.
type lineProcess struct {
	*child.Process
	out *os.File
}

func startLineProcess(t *testing.T, addr string) *lineProcess {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env, cmd.Stderr = append(os.Environ(), waiterVariable+"="+addr), os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // which ends with this process
		t.Fatal(err)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	cmd.Stdout = theirs
	p, err := child.Start(cmd, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		out.Close()
	})
	return &lineProcess{p, out}
}

// servedWith waits until the process has had the lock, and returns the token.
func (l *lineProcess) servedWith(t *testing.T) (token uint64) {
	t.Helper()
	if err := l.out.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(l.out, &token); err != nil {
		t.Fatalf("not served: %v", err)
	}
	return token
}

// TestKilledWaitersStopTheLine: of twenty processes in line every other one is killed, the first one too. The others
// have the lock in order, the first of them within two TTLs, and nothing is left of the line.
func TestKilledWaitersStopTheLine(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	holder := warmClient(t, connectGoredis(t, single(server)), lineTTL)
	lease, err := fairMutex(holder).Lock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	var line []*lineProcess
	for range 20 {
		line = append(line, startLineProcess(t, server.Addr()))
		waitForLine(t, server, len(line))
	}
	living := slices.Clone(line[:0])
	for i, process := range line {
		if i%2 == 0 {
			process.Kill()
		} else {
			living = append(living, process)
		}
	}
	killed := time.Now()
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Fatal(err)
	}
	last := lease.Token()
	for i, process := range living {
		token := process.servedWith(t)
		if i == 0 && time.Since(killed) > 2*lineTTL {
			t.Errorf("the dead have held up the first one for %s", time.Since(killed))
		}
		if token <= last {
			t.Errorf("%d of the living has token %d, and the one before has %d", i+1, token, last)
		}
		last = token
	}
	t.Logf("all were served %s after the others were killed", time.Since(killed))
	waitForLine(t, server, 0)
}

// waitForLine waits until so many stand in line, each of them with a time. A line in which only the dead are left lasts
// for a minute.
func waitForLine(t *testing.T, server *testenv.RedisServer, want int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(90 * time.Second); ; <-tick.C {
		queue := server.Do("LLEN", "redisson_lock_queue:{"+lineName+"}")
		timed := server.Do("ZCARD", "redisson_lock_timeout:{"+lineName+"}")
		if queue == int64(want) && timed == int64(want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v stand in line, %v have a time; want %d", queue, timed, want)
		}
	}
}
