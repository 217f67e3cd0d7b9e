package guardtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/child"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// Resource is something that is guarded, seen from the test.
type Resource struct {
	Writer

	// Where says to the writer of another process where it is, see [PlayHolder].
	Where []string
	// Value reads what was written.
	Value func(t *testing.T) string
}

// leaseTime is how long a lease lives without renewal.
const leaseTime = 500 * time.Millisecond

// PausedHolderWrites is the scenario that fencing is for: a holder is paused for several lives of its lease, another
// has the lock meanwhile, and the first one goes on with its write where it was. open makes a resource of its own.
func PausedHolderWrites(t *testing.T, open func(t *testing.T) Resource) {
	t.Helper()
	if !child.CanFreeze {
		t.Skip("processes cannot be paused here")
	}
	locks := testenv.Redis(t, nil)
	t.Run("after the next one has written", func(t *testing.T) {
		playPaused(t, locks, open(t), true)
	})
	t.Run("after the next one has announced itself and read", func(t *testing.T) {
		playPaused(t, locks, open(t), false)
	})
}

func playPaused(t *testing.T, server *testenv.RedisServer, r Resource, writesFirst bool) {
	t.Helper()
	first := startHolder(t, role{Redis: server.Addr(), Name: t.Name(), TTL: leaseTime, Where: r.Where})
	a := first.nextLine(t)
	if err := first.process.Freeze(); err != nil {
		t.Fatal(err)
	}
	lease := lockHere(t, server, t.Name()) // waits until the lease of the first one has run out
	b := guard.Of(lease)
	if b.Token <= a.Token {
		t.Fatalf("token %d follows %d", b.Token, a.Token)
	}
	if err := r.Announce(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	before := r.Value(t)
	if writesFirst {
		r.mustWrite(t, b, before+"next")
	}
	select {
	case <-time.After(3 * leaseTime):
	case <-lease.Context().Done():
		t.Fatal(context.Cause(lease.Context()))
	}
	first.allowWrite(t)
	first.process.Thaw()
	if got := first.nextLine(t); got.Newest != b.Token {
		t.Errorf("the write of token %d was answered %+v, want a refusal that knows %d", a.Token, got, b.Token)
	}
	if got := first.nextLine(t); !got.Lost {
		t.Errorf("the paused holder does not know that it has lost the lock: %+v", got)
	}
	if !writesFirst {
		r.mustWrite(t, b, before+"next")
	}
	if got := r.Value(t); got != before+"next" {
		t.Errorf("the value is %q", got)
	}
}

func (r Resource) mustWrite(t *testing.T, ticket guard.Ticket, value string) {
	t.Helper()
	if err := r.Write(t.Context(), ticket, value); err != nil {
		t.Fatal(err)
	}
}

// lockHere has the lock in this process until the test ends.
func lockHere(t *testing.T, server *testenv.RedisServer, name string) *lock.Lease {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	locks, err := redislock.New(goredis.Wrap(client), &redislock.Options{Lock: lock.Options{TTL: 10 * leaseTime}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(context.WithoutCancel(t.Context())) })
	lease, err := locks.Mutex(name, nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// holder is another process that has the lock.
type holder struct {
	process *child.Process
	in      io.Writer
	out     *json.Decoder
}

func startHolder(t *testing.T, r role) *holder {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	// It is killed when the test ends, also if it is paused then.
	cmd := exec.Command(os.Args[0]) //nolint:noctx,gosec // it is this program
	cmd.Env = append(os.Environ(), roleVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, itsEnd, outErr := os.Pipe()
	if err := errors.Join(inErr, outErr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	cmd.Stdout = itsEnd
	p, err := child.Start(cmd, false)
	_ = itsEnd.Close() // the child has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return &holder{process: p, in: in, out: json.NewDecoder(out)}
}

// allowWrite lets the holder write, as soon as it runs.
func (h *holder) allowWrite(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(h.in, "write\n"); err != nil {
		t.Fatal(err)
	}
}

// nextLine is what the holder says next.
func (h *holder) nextLine(t *testing.T) (l line) {
	t.Helper()
	if err := h.out.Decode(&l); err != nil {
		t.Fatalf("the holder has ended: %v", err)
	}
	return l
}
