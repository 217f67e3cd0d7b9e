package redislock_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	rueidisclient "github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/rueidis"
)

// TestClusterSlotOnTheMove: a lock is acquired, renewed and released while its
// slot is moved: before, half-way (ASK, and TRYAGAIN for scripts whose keys are
// on two servers) and afterwards (MOVED).
func TestClusterSlotOnTheMove(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		set := testenv.Cluster(t, 2, 0) // two moves to and fro at once would wait for one another
		b := open(t, connect(t, target{addrs: set.Addrs(), cluster: true}), nil)
		name := t.Name()
		slot := set.KeySlot(name)
		from := set.NodeForSlot(slot)
		to := set.Nodes[0]
		if to == from {
			to = set.Nodes[1]
		}
		g := mustAcquire(t, b, request(name, uuidA+":1"))
		move := set.StartMove(slot, from, to)
		if err := renewInTheEnd(t, b, g); err != nil {
			t.Errorf("renew before the keys have moved: %v", err)
		}
		move.MoveKeys(name)
		if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; err != nil {
			t.Errorf("renew by ASK: %v", err)
		}
		if _, err := b.Release(ctxFor(t), g); err == nil || errors.Is(err, driver.ErrLost) ||
			errors.Is(err, driver.ErrRefused) {
			// The lock has moved, its latch and counter have not.
			t.Logf("release half-way: %v", err)
		}
		move.Finish()
		g = acquireInTheEnd(t, b, request(name, uuidA+":1"))
		if err := renewInTheEnd(t, b, g); err != nil {
			t.Errorf("renew after the move: %v", err)
		}
		mustRelease(t, b, g)
		if next := mustAcquire(t, b, request(name, uuidA+":2")); next.Token <= g.Token {
			t.Errorf("token %d after %d", next.Token, g.Token)
		}
	})
}

// TestClusterWatchFollowsItsSlot: the subscription goes where the slot goes.
func TestClusterWatchFollowsItsSlot(t *testing.T) {
	for _, mode := range []redislock.PubSub{redislock.PubSubAuto, redislock.PubSubClassic, redislock.PubSubSharded} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				set := testenv.Cluster(t, 2, 0)
				opts := &redislock.Options{PubSub: mode}
				to := target{addrs: set.Addrs(), cluster: true}
				listens, releases := open(t, connect(t, to), opts), open(t, connect(t, to), opts)
				name := t.Name()
				w, err := listens.(driver.Waiter).Watch(ctxFor(t), name, driver.Mutex)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				mustRelease(t, releases, mustAcquire(t, releases, request(name, uuidA+":1")))
				if !heard(w) {
					t.Error("the release was not heard")
				}
				slot := set.KeySlot(name)
				from, next := set.NodeForSlot(slot), set.Nodes[0]
				if next == from {
					next = set.Nodes[1]
				}
				set.MoveSlot(slot, from, next)
				if mode != redislock.PubSubClassic {
					awaitSubscription(t, next, "redisson_lock__channel:{"+name+"}")
				}
				heard(w) // the move itself wakes
				g := acquireInTheEnd(t, releases, request(name, uuidA+":2"))
				mustRelease(t, releases, g)
				if !heard(w) {
					t.Error("the release after the move was not heard")
				}
			})
		})
	}
}

// awaitSubscription waits until somebody listens at a server.
func awaitSubscription(t *testing.T, s *testenv.RedisServer, channel string) {
	t.Helper()
	for ctx := ctxFor(t); ; {
		reply, _ := s.Do("PUBSUB", "SHARDNUMSUB", channel).([]any)
		if len(reply) == 2 && reply[1] == int64(1) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("nobody listens to %s: %v", channel, reply)
		}
	}
}

// TestClusterRenewsManySlots: one batch over all slots, with one loss in it.
func TestClusterRenewsManySlots(t *testing.T) {
	set := testenv.Cluster(t, 3, 0)
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		b := open(t, connect(t, target{addrs: set.Addrs(), cluster: true}), nil)
		var grants []driver.Grant
		for i := range 250 {
			name := fmt.Sprint(t.Name(), i)
			if i%2 == 0 {
				name = fmt.Sprint("{", t.Name(), "}", i) // more in one slot than one script renews
			}
			grants = append(grants, mustAcquire(t, b, request(name, fmt.Sprint(uuidA, ":", i))))
		}
		mustRelease(t, b, grants[7])
		for i, err := range b.Renew(ctxFor(t), grants) {
			if i == 7 && !errors.Is(err, driver.ErrLost) || i != 7 && err != nil {
				t.Errorf("grant %d: %v", i, err)
			}
		}
	})
}

// TestClusterDownIsNoLoss: while a master is gone its locks are unknown, the
// others are renewed.
func TestClusterDownIsNoLoss(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		set := testenv.Cluster(t, 3, 0)
		b := open(t, connect(t, target{addrs: set.Addrs(), cluster: true}), nil)
		var grants []driver.Grant
		for i := range 30 {
			grants = append(grants, mustAcquire(t, b, request(fmt.Sprint("a", i), fmt.Sprint(uuidA, ":", i))))
		}
		set.Nodes[1].Kill()
		for i, err := range b.Renew(ctxFor(t), grants) {
			if errors.Is(err, driver.ErrLost) || errors.Is(err, driver.ErrRefused) {
				t.Errorf("grant %d: %v", i, err)
			}
		}
	})
}

func TestClusterAcks(t *testing.T) {
	set := testenv.Cluster(t, 3, 1)
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		b := open(t, connect(t, target{addrs: set.Addrs(), cluster: true}), &redislock.Options{
			Acks: redislock.AckAll, AckTimeout: 5 * time.Second,
		})
		for i := range 12 {
			mustRelease(t, b, mustAcquire(t, b, request(fmt.Sprint(t.Name(), i), uuidA+":1")))
		}
	})
}

// forgetful is a client that has not heard yet of one of the masters.
type forgetful struct {
	rueidisclient.Client
	unknown string
}

// Nodes implements rueidis.Client.
func (f forgetful) Nodes() map[string]rueidisclient.Client {
	nodes := f.Client.Nodes()
	delete(nodes, f.unknown)
	return nodes
}

// TestAMasterTheClientHasNotHeardOfIsPassedOver: a list without its locks would look whole.
func TestAMasterTheClientHasNotHeardOfIsPassedOver(t *testing.T) {
	set := testenv.Cluster(t, 3, 0)
	client, err := rueidisclient.NewClient(rueidisclient.ClientOption{InitAddress: set.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	b := open(t, rueidis.Wrap(forgetful{client, set.Nodes[1].Addr()}), nil)
	infos, err := b.(driver.Inspector).List(ctxFor(t), "", 9)
	if !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("locks: %v, error: %v", infos, err)
	}
}
