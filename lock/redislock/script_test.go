package redislock_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// state is what is in the server, counters aside.
func state(s *testenv.RedisServer) map[string]string {
	all := make(map[string]string)
	keys, _ := s.Do("KEYS", "*").([]any)
	for _, key := range keys {
		name := fmt.Sprint(key)
		switch s.Do("TYPE", name) {
		case "hash":
			fields, _ := s.Do("HGETALL", name).([]any)
			for i := 0; i+1 < len(fields); i += 2 {
				all[name+"|"+fmt.Sprint(fields[i])] = fmt.Sprint(fields[i+1])
			}
		case "string":
			if !strings.HasPrefix(name, "redisson_lock_token:") {
				all[name] = fmt.Sprint(s.Do("GET", name))
			}
		}
	}
	return all
}

// TestRedissonLayout tells what Redisson would find: the state before, the
// operation, its outcome, and the state after.
func TestRedissonLayout(t *testing.T) {
	const mine = uuidA + ":1"
	latch := "redisson_unlock_latch:{a}:" + uuidA
	acquire := func(t *testing.T, b driver.Backend) error {
		req := request("a", mine)
		req.Meta = `{"host":"h"}`
		_, err := b.Acquire(ctxFor(t), req)
		return err
	}
	release := func(t *testing.T, b driver.Backend) error {
		_, err := b.Release(ctxFor(t), driver.Grant{Name: "a", Owner: mine})
		return err
	}
	renew := func(t *testing.T, b driver.Backend) error {
		return b.Renew(ctxFor(t), []driver.Grant{{Name: "a", Owner: mine, TTL: time.Minute}})[0]
	}
	force := func(t *testing.T, b driver.Backend) error {
		_, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "a")
		return err
	}
	type commands = [][]any
	held := commands{{"HSET", "a", mine, 1}, {"PEXPIRE", "a", 20000}}
	hash := commands{{"HSET", "a", mine, "x"}}
	javasLock := commands{{"HSET", "a", javas, 2}, {"PEXPIRE", "a", 20000}}
	for _, tt := range []struct {
		name    string
		before  commands
		do      func(*testing.T, driver.Backend) error
		want    error
		after   map[string]string
		ttl     [2]int64 // bounds of the lock's time left in ms
		message bool
	}{
		{
			"acquire a free lock", nil, acquire, nil,
			map[string]string{"a|" + mine: "1", "a|bedrock:meta": `{"host":"h"}`},
			[2]int64{29000, 30000},
			false,
		},
		{
			"acquire what Java holds", javasLock, acquire, driver.ErrHeld,
			map[string]string{"a|" + javas: "2"},
			[2]int64{19000, 20000},
			false,
		},
		{"renew", held, renew, nil, map[string]string{"a|" + mine: "1"}, [2]int64{59000, 60000}, false},
		{"renew what is gone", nil, renew, driver.ErrLost, map[string]string{}, [2]int64{-2, -2}, false},
		{
			"renew what Java holds", javasLock, renew, driver.ErrLost,
			map[string]string{"a|" + javas: "2"},
			[2]int64{19000, 20000},
			false,
		},
		{"release", held, release, nil, map[string]string{latch: mine}, [2]int64{-2, -2}, true},
		{
			"release again",
			commands{{"SET", latch, mine}},
			release, nil,
			map[string]string{latch: mine},
			[2]int64{-2, -2},
			false,
		},
		{"release what is gone", nil, release, driver.ErrLost, map[string]string{}, [2]int64{-2, -2}, false},
		{
			"release what Java holds", javasLock, release, driver.ErrLost,
			map[string]string{"a|" + javas: "2"},
			[2]int64{19000, 20000},
			false,
		},
		{"force what Java holds", javasLock, force, nil, map[string]string{}, [2]int64{-2, -2}, true},
		{
			"acquire where a field is called so", hash, acquire, driver.ErrHeld,
			map[string]string{"a|" + mine: "x"},
			[2]int64{-1, -1},
			false,
		},
		{
			"renew where a field is called so", hash, renew, driver.ErrLost,
			map[string]string{"a|" + mine: "x"},
			[2]int64{-1, -1},
			false,
		},
		{
			"release where a field is called so", hash, release, driver.ErrLost,
			map[string]string{"a|" + mine: "x"},
			[2]int64{-1, -1},
			false,
		},
		{
			"acquire over another type",
			commands{{"SET", "a", "text"}},
			acquire, driver.ErrRefused,
			map[string]string{"a": "text"},
			[2]int64{-1, -1},
			false,
		},
		{
			"release over another type",
			commands{{"SET", "a", "text"}},
			release, driver.ErrLost,
			map[string]string{"a": "text"},
			[2]int64{-1, -1},
			false,
		},
		{
			"renew over another type",
			commands{{"SET", "a", "text"}},
			renew, driver.ErrLost,
			map[string]string{"a": "text"},
			[2]int64{-1, -1},
			false,
		},
		{
			"release again over another type",
			commands{{"SET", "a", "text"}, {"SET", latch, mine}},
			release, nil,
			map[string]string{"a": "text", latch: mine},
			[2]int64{-1, -1},
			false,
		},
		{
			"force over a hash",
			commands{{"HSET", "a", "name", "Ann"}},
			force, driver.ErrRefused,
			map[string]string{"a|name": "Ann"},
			[2]int64{-1, -1},
			false,
		},
		{
			"force over another type",
			commands{{"SET", "a", "text"}},
			force, driver.ErrRefused,
			map[string]string{"a": "text"},
			[2]int64{-1, -1},
			false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				b, hears := open(t, connect(t, single(server)), nil), open(t, connect(t, single(server)), nil)
				w, err := hears.(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				for _, c := range tt.before {
					server.Do(c...)
				}
				if err := tt.do(t, b); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if diff := cmp.Diff(tt.after, state(server)); diff != "" {
					t.Errorf("state after (-want +got):\n%s", diff)
				}
				if left, _ := server.Do("PTTL", "a").(int64); left < tt.ttl[0] || left > tt.ttl[1] {
					t.Errorf("time left is %d ms, want %v", left, tt.ttl)
				}
				if got := heard(w); got != tt.message {
					t.Errorf("message: %t, want %t", got, tt.message)
				}
			})
		})
	}
}

// heard reports whether the watch has a signal, or gets one soon.
func heard(w driver.Watch) bool {
	select {
	case <-w.C():
		return true
	case <-time.After(50 * time.Millisecond):
		return false
	}
}

// TestHolderIsTold: a refusal names Java's holder and its time left, but knows
// of no end of a lock without one.
func TestHolderIsTold(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		server.Do("HSET", "a", javas, 1)
		_, err := b.Acquire(ctxFor(t), request("a", uuidA+":1"))
		refusal, ok := errors.AsType[*driver.HeldError](err)
		if !ok || refusal.Owner != javas || refusal.TTL != driver.UnknownTTL {
			t.Errorf("without an end: got %+v (%v)", refusal, err)
		}
		server.Do("PEXPIRE", "a", 20000)
		_, err = b.Acquire(ctxFor(t), request("a", uuidA+":1"))
		refusal, ok = errors.AsType[*driver.HeldError](err)
		if !ok || refusal.Owner != javas || refusal.TTL < 19*time.Second || refusal.TTL > 20*time.Second {
			t.Errorf("with 20 s left: got %+v (%v)", refusal, err)
		}
	})
}

// TestRetriedAcquire: the same owner gets the last of its tokens again, and the
// lock is not counted twice.
func TestRetriedAcquire(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		for _, profile := range []redislock.Profile{redislock.Redisson, redislock.Redlock} {
			server := testenv.Redis(t, nil)
			b := open(t, connect(t, single(server)), &redislock.Options{Profile: profile})
			mustRelease(t, b, mustAcquire(t, b, request("a", uuidA+":0"))) // a new counter gives one
			req := request("a", uuidA+":1")
			req.Tokens = 7
			first := mustAcquire(t, b, req)
			req.Tokens = 3
			again := mustAcquire(t, b, req)
			if first.Tokens != 7 || again.Token != first.Token+6 || again.Tokens != 1 {
				t.Errorf("profile %d: tokens %d+%d, again %d+%d", profile, first.Token, first.Tokens, again.Token,
					again.Tokens)
			}
			mustRelease(t, b, again)
			if g := mustAcquire(t, b, request("a", uuidA+":2")); g.Token < first.Token+7 {
				t.Errorf("profile %d: token %d is within the block before, %d+7", profile, g.Token, first.Token)
			}
		}
	})
}

// TestTokenGoesBack: whatever happens to the counter, tokens rise.
func TestTokenGoesBack(t *testing.T) {
	const counter = "redisson_lock_token:{a}"
	future := strconv.FormatInt(time.Now().Add(time.Hour).UnixMicro(), 10)
	for _, tt := range []struct {
		name string
		harm func(*testenv.RedisServer)
	}{
		{"nothing", func(*testenv.RedisServer) {}},
		{"flushed", func(s *testenv.RedisServer) { s.Do("FLUSHALL") }},
		{"deleted", func(s *testenv.RedisServer) { s.Do("DEL", counter) }},
		{"stale", func(s *testenv.RedisServer) { s.Do("SET", counter, 5) }},
		{"counted on by Java", func(s *testenv.RedisServer) { s.Do("INCR", counter) }},
		{"ahead of the clock", func(s *testenv.RedisServer) { s.Do("SET", counter, future) }},
		{"restarted without data", func(s *testenv.RedisServer) { s.Kill(); s.Restart(false) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				b := open(t, connect(t, single(server)), nil)
				req := request("a", uuidA+":1")
				req.Tokens = 256
				g := mustAcquire(t, b, req)
				mustRelease(t, b, g)
				tt.harm(server)
				for i := range 3 {
					req.Owner = uuidA + ":" + strconv.Itoa(i+2)
					next := acquireInTheEnd(t, b, req)
					if next.Token < g.Token+uint64(g.Tokens) {
						t.Fatalf("token %d after %d from %d", next.Token, g.Tokens, g.Token)
					}
					mustRelease(t, b, next)
					g = next
				}
				if tt.name == "ahead of the clock" && fmt.Sprint(g.Token) <= future {
					t.Errorf("token %d does not go on from %s", g.Token, future)
				}
				if n, ok := server.Do("INCR", counter).(int64); !ok || uint64(n) < g.Token {
					t.Errorf("Java would count on to %d, the last token is %d", n, g.Token)
				}
			})
		})
	}
}

// acquireInTheEnd repeats a request whose connection was broken.
func acquireInTheEnd(t *testing.T, b driver.Backend, req driver.Request) driver.Grant {
	t.Helper()
	ctx := ctxFor(t)
	for {
		g, err := b.Acquire(ctx, req)
		if err == nil {
			return g
		}
		if ctx.Err() != nil || errors.Is(err, driver.ErrRefused) {
			t.Fatal(err)
		}
	}
}

// TestUnusableCounterIsLeftAlone: a counter that is none is refused by name, and
// nothing is held, freed or overwritten.
func TestUnusableCounterIsLeftAlone(t *testing.T) {
	for profile, counter := range []string{
		redislock.Redisson: "redisson_lock_token:{a}",
		redislock.Redlock:  "bedrock_token:{a}",
	} {
		t.Run(counter, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				b := open(t, connect(t, single(server)), &redislock.Options{Profile: redislock.Profile(profile)})
				for _, value := range []string{"text", "1e300", "inf", "nan"} {
					unusableCounter(t, server, b, counter, value)
				}
				server.Do("DEL", counter)
				server.Do("LPUSH", counter, "x")
				if _, err := b.Acquire(ctxFor(t), request("a", uuidA+":1")); !errors.Is(err, driver.ErrRefused) ||
					server.Do("EXISTS", "a") != int64(0) {
					t.Errorf("counter that is a list: %v, held %v", err, server.Do("EXISTS", "a"))
				}
			})
		})
	}
}

func unusableCounter(t *testing.T, server *testenv.RedisServer, b driver.Backend, counter, value string) {
	t.Helper()
	server.Do("DEL", counter)
	g := mustAcquire(t, b, request("a", uuidB+":1"))
	server.Do("SET", counter, value)
	if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "a"); !errors.Is(err, driver.ErrRefused) ||
		!strings.Contains(err.Error(), counter) {
		t.Errorf("force release, counter %q: held %t, %v", value, held, err)
	}
	if _, err := b.Acquire(ctxFor(t), request("a", uuidA+":1")); !errors.Is(err, driver.ErrHeld) {
		t.Errorf("acquire what is held, counter %q: %v", value, err)
	}
	mustRelease(t, b, g)
	g, err := b.Acquire(ctxFor(t), request("a", uuidA+":1"))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), counter) {
		t.Errorf("acquire, counter %q: token %d, %v", value, g.Token, err)
	}
	if got := server.Do("GET", counter); got != value || server.Do("EXISTS", "a") != int64(0) {
		t.Errorf("counter %q is now %v, the lock is held for %v ms", value, got, server.Do("PTTL", "a"))
	}
}

func TestTokenTTL(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		mustAcquire(t, open(t, connect(t, single(server)), nil), request("a", uuidA+":1"))
		mustAcquire(t, open(t, connect(t, single(server)), &redislock.Options{TokenTTL: -1}), request("b", uuidA+":1"))
		day := (24 * time.Hour).Milliseconds()
		if left, _ := server.Do("PTTL", "redisson_lock_token:{a}").(int64); left < day-10000 || left > day {
			t.Errorf("the counter lives for %d ms, want a day", left)
		}
		if left := server.Do("PTTL", "redisson_lock_token:{b}"); left != int64(-1) {
			t.Errorf("the counter kept for ever lives for %v ms", left)
		}
	})
}

func TestInspectAndListJavasLocks(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		server.Do("HSET", "p*/java", javas, 2)
		server.Do("HSET", "p*/data", "field", "value")
		server.Do("SET", "p*/text", "value")
		server.Do("HSET", "px/java", javas, 1)
		mustAcquire(t, b, request("p*/go", uuidA+":1"))
		infos, err := b.(driver.Inspector).List(ctxFor(t), "p*/", 10)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, info := range infos {
			names = append(names, info.Name+" "+info.Holders[0].Owner)
		}
		slices.Sort(names)
		if diff := cmp.Diff([]string{"p*/go " + uuidA + ":1", "p*/java " + javas}, names); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		info, err := b.(driver.Inspector).Inspect(ctxFor(t), "p*/java")
		if err != nil || len(info.Holders) != 1 || info.Holders[0].TTL >= 0 || !info.Holders[0].Since.IsZero() {
			t.Errorf("Java's lock without an end: %+v, %v", info, err)
		}
	})
}

// TestLockWithoutCounterIsHidden: a lock may outlive its counter, which is kept for
// a day after the grant.
func TestLockWithoutCounterIsHidden(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		mustAcquire(t, b, request("a", "leader"))
		server.Do("DEL", "redisson_lock_token:{a}")
		infos, err := b.(driver.Inspector).List(ctxFor(t), "", 10)
		if err != nil || len(infos) != 1 || len(infos[0].Holders) != 1 || infos[0].Holders[0].Owner != "leader" {
			t.Errorf("listed as %+v, %v", infos, err)
		}
		if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "a"); err != nil || !held {
			t.Errorf("force release: held %t, %v", held, err)
		}
	})
}

// TestForcedReleaseDeletesData: a value without an end is nobody's lock.
func TestForcedReleaseDeletesData(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), &redislock.Options{Profile: redislock.Redlock})
		server.Do("SET", "a", "text")
		if _, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "a"); !errors.Is(err, driver.ErrRefused) ||
			server.Do("GET", "a") != "text" {
			t.Errorf("got %v, the value is %v", err, server.Do("GET", "a"))
		}
		server.Do("PEXPIRE", "a", 20000)
		if held, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "a"); err != nil || !held {
			t.Errorf("a foreign lock: held %t, %v", held, err)
		}
	})
}

// TestRedlockLayout: SET NX clients and this profile exclude one another.
func TestRedlockLayout(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), &redislock.Options{Profile: redislock.Redlock})
		if server.Do("SET", "a", "foreign", "NX", "PX", 20000) != "OK" {
			t.Fatal("the foreign client did not get the free lock")
		}
		_, err := b.Acquire(ctxFor(t), request("a", uuidA+":1"))
		refusal, ok := errors.AsType[*driver.HeldError](err)
		if !ok || refusal.Owner != "foreign" || refusal.TTL > 100*time.Millisecond {
			t.Errorf("held by a foreign client: got %+v (%v)", refusal, err)
		}
		_, err = b.Release(ctxFor(t), driver.Grant{Name: "a", Owner: uuidA + ":1"})
		if !errors.Is(err, driver.ErrLost) {
			t.Errorf("release of a foreign lock: %v", err)
		}
		server.Do("DEL", "a")
		g := mustAcquire(t, b, request("a", uuidA+":1"))
		if got := server.Do("SET", "a", "foreign", "NX", "PX", 20000); got != nil {
			t.Errorf("the foreign client got a lock that is held: %v", got)
		}
		if got := server.Do("GET", "a"); got != uuidA+":1" {
			t.Errorf("the value is %v, want the owner", got)
		}
		mustRelease(t, b, g)
		mustRelease(t, b, g)
		if server.Do("EXISTS", "a") != int64(0) {
			t.Error("the lock is still there")
		}
	})
}
