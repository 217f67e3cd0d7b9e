package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// address is one that moves in a fail-over, as a name does: connections stay where they are.
type address struct {
	net.Listener
	to atomic.Value
}

func newAddress(t *testing.T, to string) *address {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &address{Listener: l}
	a.to.Store(to)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go connectBoth(from, a.to.Load().(string))
		}
	}()
	return a
}

func connectBoth(from net.Conn, addr string) {
	defer from.Close()
	to, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// TestGrantIsHeardAtAReplica: a client is subscribed at what is a replica now, and asks the new master. Nobody is
// counted there, so the lock goes to others: it must not hear of its own.
func TestGrantIsHeardAtAReplica(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		old := testenv.Redis(t, nil)
		next := testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: old})
		address := newAddress(t, old.Addr())
		a := open(t, connect(t, single(old)), nil)
		g := held(t, a, "a", uuidA+":1")
		far := newStander(t, connect(t, target{addrs: []string{address.Listener.Addr().String()}}), uuidB, "a")
		far.stands(t, request("a", uuidB+":1")) // its channel is subscribed
		far.withdraw(t, "a", uuidB+":1")
		mustRelease(t, a, g)

		address.to.Store(next.Addr()) // a fail-over by hand: no subscription is cut
		next.Do("REPLICAOF", "NO", "ONE")
		old.Do("REPLICAOF", "127.0.0.1", next.Port)
		awaitLink(t, old)
		old.Do("CLIENT", "KILL", "TYPE", "normal")
		b := open(t, connect(t, single(next)), nil)
		g = held(t, b, "a", uuidC+":1")
		for ctx := ctxFor(t); ctx.Err() == nil; { // over connections that were killed, at first
			_, err := far.stand(t, request("a", uuidB+":2"))
			if refusal, ok := errors.AsType[*driver.HeldError](err); ok && refusal.Claim > 0 {
				break
			}
		}
		mustRelease(t, b, g)
		held(t, b, "a", uuidC+":2") // the other one was not there
		next.Do("PUBLISH", "bedrock_client:"+uuidB[:18], "granted 7 0 1 0 0 after that")
		if told := far.granted(t); told.Name != "after that" {
			t.Errorf("it was told of %+v", told)
		}
	})
}

func awaitLink(t *testing.T, replica *testenv.RedisServer) {
	t.Helper()
	for ctx := ctxFor(t); replica.Info("master_link_status") != "up"; {
		if ctx.Err() != nil {
			t.Fatal("the replica does not follow")
		}
	}
}

// TestFarStrangerIsKeptOut: two that are near pass a lock to and fro, and one further away wants it that stands in no
// line, because its lease is fixed. It comes in most of its turns, however quick the machine is. A turn lasts for
// 64 ms, of which the way takes 20: a trial in which the machine stalls, at each of some five steps perhaps, proves
// nothing when it fails, and is repeated.
func TestFarStrangerIsKeptOut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	server := testenv.Redis(t, nil)
	proxy := proxyTo(t, server)
	far := warmClient(t, connectGoredis(t, target{addrs: []string{proxy.Addr()}}), 30*time.Second)
	var near [2]*lock.Client
	for i := range near {
		near[i] = warmClient(t, connectGoredis(t, single(server)), 30*time.Second)
	}
	proxy.Delay(10 * time.Millisecond)
	defer proxy.Heal()
	for trial := 1; ; trial++ {
		entered, others, stalls := strangerBeside(t, far, near)
		turns := (others[0] + others[1]) / 32
		if entered >= turns/2 && entered > 0 {
			return
		}
		what := fmt.Sprintf("it has had the lock %d times, the others %d: %d turns of 32", entered, others, turns)
		if stalls == 0 || trial == 4 {
			t.Fatal(what)
		}
		t.Logf("once more, for the machine has stalled %d times: %s", stalls, what)
	}
}

// strangerBeside has them want the lock for five seconds, and counts how often they have it and the machine stalls.
func strangerBeside(t *testing.T, far *lock.Client, near [2]*lock.Client) (entered int, others [2]int, stalls int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var beside sync.WaitGroup
	for i := range near {
		beside.Go(func() { others[i] = haveUntil(ctx, t, near[i].Mutex("a", nil)) })
	}
	beside.Go(func() { stalls = countStalls(ctx, 5*time.Millisecond) })
	entered = haveUntil(ctx, t, far.Mutex("a", &lock.MutexOptions{TTL: 10 * time.Second, Fixed: true}))
	beside.Wait()
	return entered, others, stalls
}

// countStalls counts how often the machine comes so much too late with a short pause, until ctx ends.
func countStalls(ctx context.Context, late time.Duration) (stalls int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ; start = time.Now() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return stalls
		}
		if time.Since(start) > late {
			stalls++
		}
	}
}

// haveUntil has a lock for a millisecond time and again, and returns how often.
func haveUntil(ctx context.Context, t *testing.T, m *lock.Mutex) (times int) {
	t.Helper()
	for {
		lease, err := m.Lock(ctx)
		if ctx.Err() != nil {
			if err == nil {
				_ = lease.Unlock(context.WithoutCancel(ctx))
			}
			return times
		}
		if err != nil {
			t.Error(err)
			return times
		}
		times++
		<-time.After(time.Millisecond)
		if err := lease.Unlock(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	}
}

// TestReleaseIsRepeated while the one before is under way. With -race once is enough.
func TestReleaseIsRepeated(t *testing.T) {
	server := testenv.Redis(t, nil)
	a := open(t, connectGoredis(t, single(server)), nil)
	g := held(t, a, "a", uuidA+":1")
	b := newStander(t, connectGoredis(t, single(server)), uuidB, "a")
	b.stands(t, request("a", uuidB+":1"))
	mustRelease(t, a, g)
	grant := b.granted(t)
	server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := b.Release(ctx, grant); err == nil {
		t.Error("released by a server that is frozen")
	}
	time.AfterFunc(100*time.Millisecond, server.Thaw)
	mustRelease(t, b, grant)
}
