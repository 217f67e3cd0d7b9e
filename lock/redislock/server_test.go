package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// TestServerIsDown: nothing has happened, and asking again may help.
func TestServerIsDown(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		server.Kill()
		var err error
		for range 20 { // the first calls may meet connections that break under them
			if _, err = b.Acquire(ctxFor(t), request("b", uuidA+":2")); errors.Is(err, driver.ErrUnavailable) {
				break
			}
		}
		if _, refused := errors.AsType[*net.OpError](err); !errors.Is(err, driver.ErrUnavailable) || !refused {
			t.Errorf("acquire: %v", err)
		}
		if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; err == nil || errors.Is(err, driver.ErrLost) {
			t.Errorf("renew: %v", err)
		}
		server.Restart(false)
		if err := renewInTheEnd(t, b, g); !errors.Is(err, driver.ErrLost) {
			t.Errorf("renew after the data were lost: %v", err)
		}
	})
}

// renewInTheEnd renews until the server answers.
func renewInTheEnd(t *testing.T, b driver.Backend, g driver.Grant) error {
	t.Helper()
	ctx := ctxFor(t)
	for {
		err := b.Renew(ctx, []driver.Grant{g})[0]
		if err == nil || errors.Is(err, driver.ErrLost) || ctx.Err() != nil {
			return err
		}
	}
}

// TestFrozenServerHangsTheCaller: every call ends with its context.
func TestFrozenServerHangsTheCaller(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), &redislock.Options{Acks: 1})
		plain := open(t, connect(t, single(server)), nil)
		g := mustAcquire(t, plain, request("a", uuidA+":1"))
		server.Freeze()
		defer server.Thaw()
		for name, call := range map[string]func(context.Context) error{
			"acquire": func(ctx context.Context) error {
				_, err := plain.Acquire(ctx, request("b", uuidA+":2"))
				return err
			},
			"acquire acked": func(ctx context.Context) error {
				_, err := b.Acquire(ctx, request("c", uuidA+":3"))
				return err
			},
			"renew":   func(ctx context.Context) error { return plain.Renew(ctx, []driver.Grant{g})[0] },
			"release": func(ctx context.Context) error { _, err := plain.Release(ctx, g); return err },
			"watch": func(ctx context.Context) error {
				_, err := plain.(driver.Waiter).Watch(ctx, "a", driver.Mutex)
				return err
			},
			"inspect": func(ctx context.Context) error {
				_, err := plain.(driver.Inspector).Inspect(ctx, "a")
				return err
			},
			"list": func(ctx context.Context) error {
				_, err := plain.(driver.Inspector).List(ctx, "", 9)
				return err
			},
			"check": func(ctx context.Context) error {
				_, err := plain.(driver.Checker).Check(ctx)
				return err
			},
		} {
			for i := range 3 {
				ctx, cancel := context.WithTimeout(ctxFor(t), 30*time.Millisecond)
				start := time.Now()
				err := call(ctx)
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", name, err)
				}
				// The first one was sent, so nobody knows what became of it; later
				// ones may have waited behind it, and never have been sent.
				if i == 0 && errors.Is(err, driver.ErrUnavailable) && name != "watch" {
					t.Errorf("%s is taken for not sent: %v", name, err)
				}
				if took := time.Since(start); took > 230*time.Millisecond {
					t.Errorf("%s took %v", name, took)
				}
			}
		}
	})
}

// TestMemoryIsFull: no grant without memory, but release and renewal work.
func TestMemoryIsFull(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		server.Do("CONFIG", "SET", "maxmemory", "1mb")
		if _, err := b.Acquire(ctxFor(t), request("b", uuidA+":2")); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("acquire: %v", err)
		}
		if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; err != nil {
			t.Errorf("renew: %v", err)
		}
		mustRelease(t, b, g)
		if left := state(server); len(left) > 1 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestEvictedLockIsLost: eviction is noticed at the next renewal.
func TestEvictedLockIsLost(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, &testenv.RedisOptions{MaxMemory: "3mb", Policy: "allkeys-lru"})
		b := open(t, connect(t, single(server)), nil)
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		for i := 0; server.Do("EXISTS", "a") == int64(1); i++ {
			server.Do("SET", fmt.Sprint("fill", i), strings.Repeat("x", 100000))
		}
		if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; !errors.Is(err, driver.ErrLost) {
			t.Errorf("renew: %v", err)
		}
		if next := mustAcquire(t, b, request("a", uuidA+":2")); next.Token <= g.Token {
			t.Errorf("token %d after %d", next.Token, g.Token)
		}
	})
}

func TestReadOnlyReplica(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		replica := testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: testenv.Redis(t, nil)})
		b := open(t, connect(t, single(replica)), nil)
		_, err := b.Acquire(ctxFor(t), request("a", uuidA+":1"))
		if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "READONLY") {
			t.Errorf("acquire: %v", err)
		}
	})
}

// TestWrongPasswordLeaks: it is refused, and no message has the password.
func TestWrongPasswordLeaks(t *testing.T) {
	server := testenv.Redis(t, &testenv.RedisOptions{Password: "right-secret"})
	to := single(server)
	to.pass = "wrong-secret"
	// rueidis connects when it is made, and reports it there.
	b := open(t, connectGoredis(t, to), nil)
	_, err := b.Acquire(ctxFor(t), request("a", uuidA+":1"))
	if !errors.Is(err, driver.ErrRefused) || strings.Contains(err.Error(), "secret") {
		t.Errorf("acquire: %v", err)
	}
}

// documented are the permissions package redislock asks for in its own words, beside
// those for the keys of a profile.
const documented = " ~orders/* -@all +@connection +@scripting " +
	"+exists +hset +hget +hmget +hlen +hkeys +hgetall +pexpire +pttl +type +set +psetex +get +del +rename " +
	"+time +publish +spublish +subscribe +unsubscribe +ssubscribe +sunsubscribe +pubsub +wait +info +scan +cluster"

func TestDocumentedPermissionsSuffice(t *testing.T) {
	t.Run("redisson", func(t *testing.T) {
		permitted(t, redislock.Redisson,
			"~redisson_lock_token:* ~redisson_unlock_latch:* ~redisson_lock__channel:* ~bedrock_heir:* "+
				"&redisson_lock__channel:* &bedrock_client:*")
	})
	t.Run("redlock", func(t *testing.T) {
		permitted(t, redislock.Redlock,
			"~bedrock_token:* ~bedrock_unlock_latch:* ~bedrock_channel:* &bedrock_channel:*")
	})
}

// permitted does all that a client does with no more than the documented permissions.
func permitted(t *testing.T, profile redislock.Profile, keys string) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, &testenv.RedisOptions{Users: []string{"locker on >secret " + keys + documented}})
		to := single(server)
		to.user, to.pass = "locker", "secret"
		b := open(t, connect(t, to), &redislock.Options{Profile: profile})
		w, err := b.(driver.Waiter).Watch(ctxFor(t), "orders/1", driver.Mutex)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		g := mustAcquire(t, b, request("orders/1", uuidA+":1"))
		if _, err := b.Acquire(ctxFor(t), request("orders/1", uuidA+":2")); !errors.Is(err, driver.ErrHeld) {
			t.Errorf("second acquire: %v", err)
		}
		if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; err != nil {
			t.Errorf("renew: %v", err)
		}
		info, err := b.(driver.Inspector).Inspect(ctxFor(t), "orders/1")
		if err != nil || len(info.Holders) != 1 || info.Holders[0].Owner != g.Owner || info.Waiting != 1 {
			t.Errorf("inspect: %+v, %v", info, err)
		}
		server.Do("HSET", "forbidden", javas, "1")
		if infos, err := b.(driver.Inspector).List(ctxFor(t), "", 5); err != nil || len(infos) != 1 {
			t.Errorf("list: %+v, %v", infos, err)
		}
		mustRelease(t, b, g)
		mustRelease(t, b, g)
		if !heard(w) {
			t.Error("the release was not heard")
		}
		findings, err := b.(driver.Checker).Check(ctxFor(t))
		if err != nil || !found(findings, driver.Notice, "CONFIG GET is not allowed") {
			t.Errorf("check: %v, %v", findings, err)
		}
		if _, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "orders/1"); err != nil {
			t.Errorf("force: %v", err)
		}
		if _, err := b.Acquire(ctxFor(t), request("other/1", uuidA+":3")); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("acquire elsewhere: %v", err)
		}
	})
}

// TestMissingPermissionLeavesALock: whatever command is forbidden, nothing is
// left that does not end.
func TestMissingPermissionLeavesALock(t *testing.T) {
	for _, command := range []string{"exists", "time", "set", "hset", "pexpire", "publish", "del"} {
		t.Run(command, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t,
					&testenv.RedisOptions{Users: []string{"locker on >secret ~* &* +@all -" + command}})
				to := single(server)
				to.user, to.pass = "locker", "secret"
				b := open(t, connect(t, to), nil)
				req := request("a", uuidA+":1")
				req.TTL = 10 * time.Second // so short that the lock does not become its latch, which spares the del
				g, err := b.Acquire(ctxFor(t), req)
				if err == nil {
					_, err = b.Release(ctxFor(t), g)
				}
				if !errors.Is(err, driver.ErrRefused) {
					t.Errorf("got %v", err)
				}
				if server.Do("PTTL", "a") == int64(-1) {
					t.Error("a lock without an end is left")
				}
			})
		})
	}
}

func TestTLSAndOldProtocol(t *testing.T) {
	server := testenv.Redis(t, &testenv.RedisOptions{TLS: true, Password: "secret"})
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		for _, resp2 := range []bool{false, true} {
			to := single(server)
			to.resp2 = resp2
			b := open(t, connect(t, to), nil)
			name := fmt.Sprint(t.Name(), resp2)
			w, err := b.(driver.Waiter).Watch(ctxFor(t), name, driver.Mutex)
			if err != nil {
				t.Fatalf("RESP2 %t: %v", resp2, err)
			}
			g := mustAcquire(t, b, request(name, uuidA+":1"))
			if err := b.Renew(ctxFor(t), []driver.Grant{g})[0]; err != nil {
				t.Error(err)
			}
			if _, err := b.(driver.Checker).Check(ctxFor(t)); err != nil {
				t.Error(err)
			}
			mustRelease(t, b, g)
			if !heard(w) {
				t.Errorf("RESP2 %t: the release was not heard", resp2)
			}
			w.Close()
		}
	})
}

// TestReconnectWakesEverybody: what was missed while the connection was broken
// is looked for.
func TestReconnectWakesEverybody(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		var watches []driver.Watch
		for _, name := range []string{"a", "a", "b"} {
			w, err := b.(driver.Waiter).Watch(ctxFor(t), name, driver.Mutex)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			watches = append(watches, w)
		}
		server.Do("CLIENT", "KILL", "TYPE", "pubsub")
		for i, w := range watches {
			select {
			case <-w.C():
			case <-time.After(5 * time.Second):
				t.Fatalf("watch %d was not woken", i)
			}
		}
		other := open(t, connect(t, single(server)), nil)
		for i, name := range []string{"a", "b"} {
			// The reconnection may wake twice; what counts is that a release does.
			heard(watches[2*i])
			mustRelease(t, other, mustAcquire(t, other, request(name, uuidB+":1")))
			if !heard(watches[2*i]) {
				t.Errorf("the release of %q was not heard after the reconnection", name)
			}
		}
	})
}

// TestOwnSubscriptionIsNoWaiter: a release counts other processes only.
func TestOwnSubscriptionIsNoWaiter(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		a, b := open(t, connect(t, single(server)), nil), open(t, connect(t, single(server)), nil)
		for i, want := range []int{0, 0, 1} {
			if i > 0 {
				w, err := []driver.Backend{a, b}[i-1].(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
			}
			g := mustAcquire(t, a, request("a", fmt.Sprint(uuidA, ":", i)))
			if waiting, err := a.Release(ctxFor(t), g); err != nil || waiting != want {
				t.Errorf("%d listeners: waiting %d, want %d (%v)", i, waiting, want, err)
			}
		}
	})
}

// TestUnacknowledgedGrantIsTakenBack: what too few replicas have does not count.
func TestUnacknowledgedGrantIsTakenBack(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		master := testenv.Redis(t, nil)
		replica := testenv.Redis(t, &testenv.RedisOptions{ReplicaOf: master})
		master.Do("SET", "flows", 1) // a new replica is online up to a second before it is sent anything
		for ctx := ctxFor(t); replica.Do("EXISTS", "flows") == int64(0); {
			if ctx.Err() != nil {
				t.Fatal("the replica gets nothing")
			}
		}
		for _, acks := range []redislock.Acks{1, redislock.AckMajority, redislock.AckAll} {
			b := open(t, connect(t, single(master)), &redislock.Options{Acks: acks, AckTimeout: 300 * time.Millisecond})
			name := fmt.Sprint("a", acks)
			g := mustAcquire(t, b, request(name, uuidA+":1"))
			if replica.Do("EXISTS", name) != int64(1) {
				t.Errorf("acks %d: the replica has no grant", acks)
			}
			mustRelease(t, b, g)
			replica.Freeze()
			_, err := b.Acquire(ctxFor(t), request(name, uuidA+":2"))
			replica.Thaw()
			missing, ok := errors.AsType[*redislock.AckError](err)
			if !ok || missing.Need != 1 || missing.Got != 0 || !errors.Is(err, driver.ErrUnavailable) {
				t.Errorf("acks %d: %v", acks, err)
			}
			if master.Do("EXISTS", name) != int64(0) {
				t.Errorf("acks %d: the grant was not taken back", acks)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  testenv.RedisOptions
		level driver.Level
		what  string
	}{
		{
			"evicting",
			testenv.RedisOptions{MaxMemory: "10mb", Policy: "allkeys-lru"},
			driver.Danger,
			"maxmemory-policy is allkeys-lru",
		},
		{
			"evicting nothing",
			testenv.RedisOptions{Policy: "allkeys-lru"},
			driver.Notice,
			"maxmemory-policy is allkeys-lru, without maxmemory",
		},
		{"forgetting", testenv.RedisOptions{}, driver.Warning, `nothing is persisted (appendonly no, save "")`},
		{
			"snapshots",
			testenv.RedisOptions{Persistence: testenv.PersistRDB},
			driver.Warning,
			"only snapshots are persisted (appendonly no)",
		},
		{
			"every second",
			testenv.RedisOptions{Args: []string{"--appendonly", "yes"}},
			driver.Notice,
			"appendfsync is everysec",
		},
		{"always", testenv.RedisOptions{Persistence: testenv.PersistAOF}, driver.OK, "redis_version is "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, &tt.opts)
				b := open(t, connect(t, single(server)), nil)
				findings, err := b.(driver.Checker).Check(ctxFor(t))
				if err != nil || !found(findings, tt.level, tt.what) {
					t.Errorf("want %s %q in %+v (%v)", tt.level, tt.what, findings, err)
				}
				if tt.level == driver.OK && findings[0].Level > driver.OK {
					t.Errorf("good settings are blamed: %+v", findings)
				}
			})
		})
	}
}

func found(findings []driver.Finding, level driver.Level, what string) bool {
	for _, f := range findings {
		if f.Level == level && strings.HasPrefix(f.What, what) {
			return true
		}
	}
	return false
}

// TestDangerIsLogged: the first use says what the settings mean, once.
func TestDangerIsLogged(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, &testenv.RedisOptions{MaxMemory: "10mb", Policy: "allkeys-lru"})
		log := make(lines, 100)
		b := open(t, connect(t, single(server)), &redislock.Options{
			Lock: lock.Options{Logger: slog.New(slog.NewTextHandler(log, nil))},
		})
		for range 3 {
			mustRelease(t, b, mustAcquire(t, b, request("a", uuidA+":1")))
		}
		select {
		case line := <-log:
			if !strings.Contains(line, "allkeys-lru") || !strings.Contains(line, "level=danger") {
				t.Errorf("logged first: %s", line)
			}
		case <-ctxFor(t).Done():
			t.Fatal("nothing was logged")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		for len(log) > 0 {
			if line := <-log; strings.Contains(line, "allkeys-lru") {
				t.Errorf("logged again: %s", line)
			}
		}
	})
}

// lines collects what is logged.
type lines chan string

// Write implements io.Writer.
func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestRingKeepsLocks: its servers would each grant the names that go together in
// a call, and its subscriptions need a channel to begin with.
func TestRingKeepsLocks(t *testing.T) {
	ring := goredisclient.NewRing(&goredisclient.RingOptions{
		Addrs: map[string]string{"a": "127.0.0.1:1", "b": "127.0.0.1:2"},
	})
	defer ring.Close()
	for _, client := range []goredisclient.UniversalClient{ring, struct{ *goredisclient.Ring }{ring}} {
		_, err := redislock.NewBackend(goredis.Wrap(client), nil)
		if err == nil || !strings.Contains(err.Error(), "Ring") {
			t.Errorf("a ring was accepted: %v", err)
		}
	}
}
