//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// The holder of a fair lock is killed, and every other one of the twenty who wait: the living have it in the order of
// their coming, which their tokens tell: what each prints comes by a pipe of its own, and may be read in another order
// than it was written. The first of them has it within twice the TTL.
func TestALineOutlivesItsDead(t *testing.T) {
	t.Parallel()
	const waiters, ttl = 20, 4 * time.Second
	server := testenv.Redis(t, nil)
	run := func(script string) (*exec.Cmd, *bufio.Scanner) {
		return program(t, "lock", "run", "job", "--fair", "--ttl", ttl.String(),
			"--backend", "redis://"+server.Addr(), "--", "sh", "-c", script)
	}
	holder, lines := run("echo $$; exec sleep 600")
	nextInt(t, lines)
	dead := []*exec.Cmd{holder}
	tokens := make([]chan uint64, waiters)
	for i := range tokens {
		cmd, lines := run("echo $BEDROCK_LOCK_TOKEN")
		if i%2 == 0 {
			dead = append(dead, cmd)
		}
		tokens[i] = make(chan uint64, 1)
		go func() {
			if lines.Scan() {
				var token uint64
				_, _ = fmt.Sscan(lines.Text(), &token)
				tokens[i] <- token
			}
			_ = cmd.Wait()
		}()
		awaitInLine(t, server, i+1)
	}
	began := time.Now()
	for _, cmd := range dead {
		_ = cmd.Process.Kill()
	}
	_ = holder.Wait()
	var last uint64
	for i := 1; i < waiters; i += 2 {
		select {
		case token := <-tokens[i]:
			if token <= last {
				t.Errorf("number %d has token %d, who came before it has %d", i, token, last)
			}
			last = token
		case <-time.After(2 * ttl):
			t.Fatalf("number %d was not served within %v", i, 2*ttl)
		}
		if i == 1 {
			t.Logf("the first of the living was served after %v", time.Since(began))
		}
	}
}

// awaitInLine waits until so many stand in line.
func awaitInLine(t *testing.T, server *testenv.RedisServer, n int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		got := fmt.Sprint(server.Do("LLEN", "redisson_lock_queue:{job}"))
		if got == fmt.Sprint(n) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("in line are %s, want %d", got, n)
		}
	}
}
