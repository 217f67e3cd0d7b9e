package election_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// termTime is how long a term lives without renewal.
const termTime = time.Second

// takePart is the main function of a candidate. It says when it leads, that it works, and when it has lost that.
func takePart(addr string) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3) // its parent is gone
	}()
	locks, err := redislock.New(goredis.Wrap(redis.NewClient(&redis.Options{Addr: addr})), nil)
	if err != nil {
		slog.Error("cannot take part", "err", err)
		return 1
	}
	e := election.New(locks, "job", &election.Options{TTL: termTime, Pause: 50 * time.Millisecond})
	err = e.Lead(context.Background(), func(ctx context.Context, t *election.Term) error {
		fmt.Fprintln(os.Stdout, "leads", t.Token())
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for t.Err() == nil {
			fmt.Fprintln(os.Stdout, "works", t.Token(), time.Now().UnixNano())
			<-tick.C
		}
		if !errors.Is(t.Err(), lock.ErrLost) {
			return t.Err()
		}
		<-ctx.Done()
		fmt.Fprintln(os.Stdout, "lost", t.Token())
		return ctx.Err()
	})
	slog.Error("ended", "err", err)
	return 1
}

// candidate is a process that takes part.
type candidate struct {
	*child.Process
	lines *bufio.Scanner
}

func startCandidate(t *testing.T, addr string) *candidate {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), candidateVariable+"="+addr)
	cmd.Stderr = os.Stderr
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
	return &candidate{p, bufio.NewScanner(out)}
}

// says reads on until the candidate says that of a term, and returns which one; none if it has ended before.
func (c *candidate) says(what string) (token uint64) {
	for c.lines.Scan() {
		if n, err := fmt.Sscanf(c.lines.Text(), what+" %d", &token); n == 1 && err == nil {
			return token
		}
	}
	return 0
}

// observeAt returns what is seen at a server by this process.
func observeAt(t *testing.T, addr string) <-chan sight {
	t.Helper()
	conn := redis.NewClient(&redis.Options{Addr: addr})
	locks, err := redislock.New(goredis.Wrap(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	seen := observe(ctx, election.New(locks, "job", nil))
	t.Cleanup(func() {
		cancel()
		for range seen {
		}
		stop(t, locks)
		conn.Close()
	})
	return seen
}

// wantToken waits until a term with that token is seen, and returns when. Errors are none of what is seen.
func wantToken(t *testing.T, seen <-chan sight, token uint64) time.Time {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case s := <-seen:
			if s.err != nil {
				t.Errorf("seen is an error: %v", s.err)
			}
			if s.leader.Token == token && s.leader.Owner != "" {
				return time.Now()
			}
		case <-limit:
			t.Fatalf("the term with token %d is not seen", token)
		}
	}
}

// TestAKilledLeaderKeepsLeadership: when its term is over another process leads, and who observes sees that.
func TestAKilledLeaderKeepsLeadership(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t, nil).Addr()
	seen := observeAt(t, addr)
	first := startCandidate(t, addr)
	token := first.says("leads")
	wantToken(t, seen, token)
	second := startCandidate(t, addr)
	first.says("works")
	first.Kill()
	killed := time.Now()
	next := second.says("leads")
	led := time.Now()
	if next <= token {
		t.Errorf("token %d after %d", next, token)
	}
	late := wantToken(t, seen, next).Sub(led)
	if took := led.Sub(killed); took > 3*termTime || late > termTime {
		t.Errorf("another one leads after %s, and is seen %s after that", took, late)
	}
}

// TestALeaderThatWasPausedWorksOn: when it goes on its term is over, and another process leads. It stops at once, and
// takes part again.
func TestALeaderThatWasPausedWorksOn(t *testing.T) {
	t.Parallel()
	if !child.CanFreeze {
		t.Skip("processes cannot be paused here")
	}
	addr := testenv.Redis(t, nil).Addr()
	seen := observeAt(t, addr)
	first := startCandidate(t, addr)
	token := first.says("leads")
	wantToken(t, seen, token)
	second := startCandidate(t, addr)
	first.says("works")
	if err := first.Freeze(); err != nil {
		t.Fatal(err)
	}
	next := second.says("leads")
	wantToken(t, seen, next)
	if next <= token {
		t.Errorf("token %d after %d", next, token)
	}
	thawed := time.Now()
	first.Thaw()
	if n := first.worksUntilLost(token, thawed); n > 1 { // what it was at when it was paused
		t.Errorf("it has worked %d times after its term", n)
	}
	second.Kill()
	if again := first.says("leads"); again <= next {
		t.Errorf("it leads again with token %d after %d", again, next)
	}
}

// worksUntilLost reads on until the candidate says that a term is lost, and returns how often it has worked in it since
// a moment. What it had said before that may still be there to be read.
func (c *candidate) worksUntilLost(token uint64, since time.Time) (works int) {
	lost := fmt.Sprint("lost ", token)
	for c.lines.Scan() && c.lines.Text() != lost {
		var in uint64
		var at int64
		_, err := fmt.Sscanf(c.lines.Text(), "works %d %d", &in, &at)
		if err == nil && in == token && at > since.UnixNano() {
			works++
		}
	}
	return works
}
