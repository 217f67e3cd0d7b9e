package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// TestWaitAsksAnotherConnection freezes a replica that has acknowledged all
// there was: whoever asks on a connection that did not write the grant is told
// that the replica is up to date.
func TestWaitAsksAnotherConnection(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		master := testenv.Redis(t, nil)
		replica := testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: master})
		b := open(t, connect(t, single(master)), &redislock.Options{Acks: 1, AckTimeout: time.Second})
		// A new replica begins to acknowledge within a second.
		mustRelease(t, b, acquireInTheEnd(t, b, request("a", uuidA+":1")))
		awaitAck(ctxFor(t), t, master)
		replica.Freeze()
		defer replica.Thaw()
		g, err := b.Acquire(ctxFor(t), request("a", uuidA+":2"))
		if _, ok := errors.AsType[*redislock.AckError](err); !ok {
			t.Fatalf("want an AckError, got the grant %+v and %v", g, err)
		}
	})
}

// TestReplicasAreWaitedForLongerThanTheAnswer: whoever has no time for it is not told how many
// replicas have the grant.
func TestReplicasAreWaitedForLongerThanTheAnswer(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		locks, err := redislock.New(connect(t, single(testenv.Redis(t, nil))), &redislock.Options{
			Acks: 1, AckTimeout: time.Hour, Lock: lock.Options{Patience: 2 * time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := locks.Stop(ctxFor(t)); err != nil {
				t.Error(err)
			}
		}()
		_, _ = locks.Mutex("a", nil).TryLock(ctxFor(t)) // the server learns the script, and WAIT is sent twice
		_, err = locks.Mutex("b", nil).TryLock(ctxFor(t))
		if _, ok := errors.AsType[*redislock.AckError](err); !ok {
			t.Errorf("want an AckError, got %v", err)
		}
	})
}

// awaitAck waits until the master knows that its replica has everything.
func awaitAck(ctx context.Context, t *testing.T, master *testenv.RedisServer) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !inSync(master) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the replica has not acknowledged: %s", master.Info("slave0"))
		}
	}
}

// inSync reports whether the replica has everything; one that is still being filled has an
// offset, too.
func inSync(master *testenv.RedisServer) bool {
	replica := master.Info("slave0")
	return strings.Contains(replica, "state=online,") &&
		strings.Contains(replica, fmt.Sprintf("offset=%s,", master.Info("master_repl_offset")))
}

// TestReplicaThatCameLaterCountsForNothing: how many replicas have to have a
// grant is not settled by how many there were before: at the start, or right
// after a fail-over, that is none.
func TestReplicaThatCameLaterCountsForNothing(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		for _, acks := range []redislock.Acks{redislock.AckMajority, redislock.AckAll} {
			master := testenv.Redis(t, nil)
			b := open(t, connect(t, single(master)), &redislock.Options{Acks: acks, AckTimeout: 200 * time.Millisecond})
			mustRelease(t, b, mustAcquire(t, b, request("a", uuidA+":1"))) // no replica yet
			replica := testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: master})
			awaitAck(ctxFor(t), t, master)
			unacknowledged(t, b, replica, request("a", uuidA+":2"))
		}
	})
}

// TestReplicaThatCameBackCountsForNothing: a replica leaves, grants go on without
// it, it comes back, and is cut off.
func TestReplicaThatCameBackCountsForNothing(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		master := testenv.Redis(t, nil)
		replica := testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: master})
		awaitAck(ctxFor(t), t, master)
		b := open(t, connect(t, single(master)), &redislock.Options{
			Acks: redislock.AckAll, AckTimeout: 200 * time.Millisecond,
		})
		mustRelease(t, b, acquireInTheEnd(t, b, request("a", uuidA+":1")))
		replica.Do("REPLICAOF", "NO", "ONE")
		mustRelease(t, b, acquireInTheEnd(t, b, request("a", uuidA+":2")))
		if n := master.Info("connected_slaves"); n != "0" {
			t.Fatalf("%s replicas after the only one has left", n)
		}
		replica.Do("REPLICAOF", "127.0.0.1", master.Port)
		awaitAck(ctxFor(t), t, master)
		unacknowledged(t, b, replica, request("a", uuidA+":3"))
	})
}

// unacknowledged asks for a lock while the only replica is frozen.
func unacknowledged(t *testing.T, b driver.Backend, replica *testenv.RedisServer, req driver.Request) {
	t.Helper()
	replica.Freeze()
	defer replica.Thaw()
	g, err := b.Acquire(ctxFor(t), req)
	if _, ok := errors.AsType[*redislock.AckError](err); !ok {
		t.Errorf("want an AckError, got the grant %+v and %v", g, err)
	}
}

// TestSubscriptionTakesTheLastConnection: with a single connection for what blocks,
// a waiter is served all the same, though it hears of no release.
func TestSubscriptionTakesTheLastConnection(t *testing.T) {
	server := testenv.Redis(t, nil)
	client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
		InitAddress: []string{server.Addr()}, ForceSingleClient: true, BlockingPoolSize: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	b := open(t, rueidis.Wrap(client), &redislock.Options{Acks: redislock.AckAll})
	other := open(t, connectRueidis(t, single(server)), nil)
	held := mustAcquire(t, other, request("a", uuidB+":1"))
	if _, err := b.Acquire(ctxFor(t), request("a", uuidA+":1")); !errors.Is(err, driver.ErrHeld) {
		t.Fatalf("acquire what is held: %v", err)
	}
	w, err := b.(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex)
	if err == nil {
		defer w.Close()
	} else if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "BlockingPoolSize") {
		t.Errorf("watch: %v", err)
	}
	mustRelease(t, other, held)
	mustRelease(t, b, mustAcquire(t, b, request("a", uuidA+":2")))
}

// TestReplicasAreWaitedForForLongerThanForAnAnswer: a client that is less patient with
// servers than Acks wants it to be with replicas would never hear how many they are, and
// the grant would not be taken back.
func TestReplicasAreWaitedForForLongerThanForAnAnswer(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, addr string) redisconn.Conn{
		"goredis": func(t *testing.T, addr string) redisconn.Conn {
			client := goredisclient.NewClient(&goredisclient.Options{Addr: addr, ReadTimeout: 200 * time.Millisecond})
			t.Cleanup(func() { _ = client.Close() })
			return goredis.Wrap(client)
		},
		"goredis, cluster": func(t *testing.T, addr string) redisconn.Conn {
			client := goredisclient.NewClusterClient(&goredisclient.ClusterOptions{
				Addrs: []string{addr}, ReadTimeout: 200 * time.Millisecond,
				ClusterSlots: func(context.Context) ([]goredisclient.ClusterSlot, error) {
					return []goredisclient.ClusterSlot{{
						End:   16383,
						Nodes: []goredisclient.ClusterNode{{Addr: addr}},
					}}, nil
				},
			})
			t.Cleanup(func() { _ = client.Close() })
			return goredis.Wrap(client)
		},
		"rueidis": func(t *testing.T, addr string) redisconn.Conn {
			client, err := rueidisclient.NewClient(rueidisclient.ClientOption{
				InitAddress: []string{addr}, ForceSingleClient: true, ConnWriteTimeout: 200 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			return rueidis.Wrap(client)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t, nil)
			b := open(t, connect(t, server.Addr()), &redislock.Options{Acks: 1, AckTimeout: time.Second})
			g, err := b.Acquire(ctxFor(t), request("a", uuidA+":1"))
			if _, ok := errors.AsType[*redislock.AckError](err); !ok {
				t.Errorf("want an AckError, got the grant %+v and %v", g, err)
			}
			if server.Do("EXISTS", "a") != int64(0) {
				t.Error("the grant was not taken back")
			}
		})
	}
}
