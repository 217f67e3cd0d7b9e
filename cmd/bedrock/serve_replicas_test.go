//go:build unix

package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
)

// replica is a server as a user would start it, at one address for all of its lives.
type replica struct {
	t       *testing.T
	addr    string
	args    []string
	process *exec.Cmd
}

// newReplica starts one that is told its store and no place for locks, unless there are further arguments.
func newReplica(t *testing.T, args ...string) *replica {
	t.Helper()
	r := &replica{t: t, addr: testenv.Nobody(t), args: args}
	r.start()
	t.Cleanup(r.kill)
	return r
}

func (r *replica) start() {
	r.t.Helper()
	process, lines := program(r.t, append([]string{"serve", "--listen", r.addr, "--log-level", "error"}, r.args...)...)
	if !lines.Scan() { // it says what it is when it listens
		r.t.Fatalf("no server with %q", r.args)
	}
	r.process = process
}

func (r *replica) kill() {
	_ = r.process.Process.Kill()
	_ = r.process.Wait()
}

// locks returns a client of the locks that the server gives out, watched by somebody or by nobody.
func (r *replica) locks(by lock.Observer) *lock.Client {
	r.t.Helper()
	c, err := client.Dial("http://"+r.addr, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	locks, err := lock.New(c.Backend(), &lock.Options{TTL: replicaTTL, Observer: by})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = locks.Stop(ctx)
		_ = c.Close()
	})
	return locks
}

// replicaTTL is longer than a server takes to be killed and started.
const replicaTTL = 10 * time.Second

// sharedStores are those on which several servers work.
func sharedStores() map[string]func(t *testing.T) []string {
	return map[string]func(t *testing.T) []string{
		"redis": func(t *testing.T) []string {
			server := testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistAOF})
			return []string{"--store", "redis://" + server.Addr()}
		},
		"postgres": func(t *testing.T) []string { return []string{"--store", postgres(t)} },
		"mariadb":  func(t *testing.T) []string { return []string{"--store", mariadb(t)} },
		"etcd": func(t *testing.T) []string {
			cluster := testenv.StartEtcd(t, nil)
			return []string{"--store", postgres(t), "--locks", "etcd://" + cluster.Members[0].Addr()}
		},
	}
}

// TestReplicasGrantALockTwice: what one server has granted no other one on its store does, also when it has died; its
// client has the lock still, and renews it as soon as there is a server at that address.
func TestReplicasGrantALockTwice(t *testing.T) {
	t.Parallel()
	for name, store := range sharedStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := store(t)
			one, two := newReplica(t, args...), newReplica(t, args...)
			outlivesItsServer(t, one, two.locks(nil))
		})
	}
}

// TestRestartedServerGrantsALockTwice is that for stores that one server has for itself.
func TestRestartedServerGrantsALockTwice(t *testing.T) {
	t.Parallel()
	one := newReplica(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "store.db"))
	outlivesItsServer(t, one, one.locks(nil))
}

// outlivesItsServer takes a lock from a server that is killed, and tries what others get.
func outlivesItsServer(t *testing.T, one *replica, others *lock.Client) {
	t.Helper()
	renewed := make(renewals, 1)
	lease, err := one.locks(renewed).Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	isHeld(t, others, "another client")
	one.kill()
	if one.args[1][:6] != "sqlite" {
		isHeld(t, others, "the server that granted it is dead")
	}
	one.start()
	isHeld(t, others, "the server has started again")
	select { // none from before: the server died long before the first was due
	case <-renewed:
	case <-lease.Context().Done():
		t.Fatalf("not renewed at the server that has started again: %v", lease.Err())
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, err := others.Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if next.Token() <= lease.Token() {
		t.Errorf("token %d after %d", next.Token(), lease.Token())
	}
}

// renewals receives when a lease was renewed.
type renewals chan struct{}

// Observe implements [lock.Observer].
func (r renewals) Observe(_ context.Context, e lock.Event) {
	if e.Kind == lock.EventRenewed {
		select {
		case r <- struct{}{}:
		default:
		}
	}
}

// isHeld wants a lock to be refused, when something was the case.
func isHeld(t *testing.T, c *lock.Client, when string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), replicaTTL/2)
	defer cancel()
	if _, err := c.Mutex("job", nil).TryLock(ctx); !errors.Is(err, lock.ErrHeld) {
		t.Fatalf("%s: %v, want it to be held", when, err)
	}
}

// TestTokensFallWhenAServerStarts: those of a memory begin at the clock.
func TestTokensFallWhenAServerStarts(t *testing.T) {
	t.Parallel()
	one := newReplica(t, "--store", "mem:")
	c := one.locks(nil)
	before, err := c.Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	one.kill()
	one.start()
	after, err := one.locks(nil).Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after.Token() <= before.Token() {
		t.Errorf("token %d after %d", after.Token(), before.Token())
	}
}

// TestReplicasShareALock: clients of two servers, which are killed in turn, are never in at the same time, and tokens
// rise.
func TestReplicasShareALock(t *testing.T) {
	t.Parallel()
	for name, store := range sharedStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := store(t)
			replicas := []*replica{newReplica(t, args...), newReplica(t, args...)}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in := inside{entries: make(chan struct{}, 1000)}
			done := make(chan struct{})
			for i := range 4 {
				c := replicas[i%2].locks(nil)
				go func() {
					defer func() { done <- struct{}{} }()
					in.contend(ctx, t, c)
				}()
			}
			for i := range 4 {
				in.await(t, 10)
				replicas[i%2].kill()
				replicas[i%2].start()
			}
			in.await(t, 10)
			cancel()
			for range 4 {
				<-done
			}
		})
	}
}

// inside is who has the lock.
type inside struct {
	holders atomic.Int32
	token   atomic.Uint64
	entries chan struct{} // receives at each
}

// contend takes the lock time and again, for much less than its time.
func (in *inside) contend(ctx context.Context, t *testing.T, c *lock.Client) {
	for ctx.Err() == nil {
		lease, err := c.Mutex("shared", &lock.MutexOptions{TTL: 2 * time.Second}).Lock(ctx)
		if err != nil {
			continue
		}
		if n := in.holders.Add(1); n > 1 {
			t.Errorf("%d are in", n)
		}
		if before := in.token.Swap(lease.Token()); before >= lease.Token() {
			t.Errorf("token %d after %d", lease.Token(), before)
		}
		select {
		case in.entries <- struct{}{}:
		default: // nobody has waited for any for long
		}
		<-time.After(2 * time.Millisecond)
		in.holders.Add(-1)
		_ = lease.Unlock(ctx) // else it runs out
	}
}

// await waits until there were so many entries more.
func (in *inside) await(t *testing.T, more int) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for before := len(in.entries) + more; before > 0; before-- {
		select {
		case <-in.entries:
		case <-limit.C:
			t.Fatalf("%d entries are missing", before)
		}
	}
}
