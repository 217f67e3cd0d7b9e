package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// setLatch sets a latch that is free.
func setLatch(t testing.TB, b driver.Backend, name string, count int) {
	t.Helper()
	if set, err := b.(driver.Latches).SetLatch(ctxFor(t), name, "set "+name, count); err != nil || !set {
		t.Fatalf("set %q: %t, %v", name, set, err)
	}
}

// countDown counts a latch down, and checks what is left.
func countDown(t testing.TB, b driver.Backend, name, id string, by, want int) {
	t.Helper()
	if left, err := b.(driver.Latches).CountDown(ctxFor(t), name, id, by); err != nil || left != want {
		t.Errorf("count %q down by %d, %q: %d are left, want %d (%v)", name, by, id, left, want, err)
	}
}

// wantCount checks what is left of a latch.
func wantCount(t testing.TB, b driver.Backend, name string, want int) {
	t.Helper()
	if left, err := b.(driver.Latches).LatchCount(ctxFor(t), name); err != nil || left != want {
		t.Errorf("%q: %d are left, want %d (%v)", name, left, want, err)
	}
}

// ofLatches are the keys of latches on a server, without what calls were answered.
func ofLatches(s *testenv.RedisServer) []string {
	var all []string
	keys, _ := s.Do("KEYS", "*").([]any)
	for _, key := range keys {
		if name := fmt.Sprint(key); !strings.HasPrefix(name, "bedrock_latch:call:") {
			all = append(all, name)
		}
	}
	return all
}

// TestLatchIsCountedWrongly: it is there while something is left, and opens once.
func TestLatchIsCountedWrongly(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		latches := b.(driver.Latches)
		for _, name := range []string{"a", "{x}", "x", "{t}/1", "with spaces, and {", "a{", "}"} {
			wantCount(t, b, name, 0)
			setLatch(t, b, name, 5)
			if server.Do("GET", name) != "5" || server.Do("PTTL", name) != int64(-1) {
				t.Errorf("%q is %v, and has %v left", name, server.Do("GET", name), server.Do("PTTL", name))
			}
			if set, err := latches.SetLatch(ctxFor(t), name, "other", 7); set || err != nil {
				t.Errorf("%q is set again: %t, %v", name, set, err)
			}
			countDown(t, b, name, "one", 2, 3)
			countDown(t, b, name, "two", 2, 1)
			before := server.Do("DUMP", name)
			_, err := latches.CountDown(ctxFor(t), name, "too much", 2)
			told, ok := errors.AsType[*driver.CountError](err)
			if !ok || *told != (driver.CountError{Left: 1, By: 2}) || server.Do("DUMP", name) != before {
				t.Errorf("%q below zero: %v, and %v is %v", name, err, before, server.Do("DUMP", name))
			}
			wantCount(t, b, name, 1)
			countDown(t, b, name, "last", 1, 0)
			wantCount(t, b, name, 0)
			if left := ofLatches(server); len(left) > 0 {
				t.Errorf("%q has left %q", name, left)
			}
			if _, err := latches.CountDown(ctxFor(t), name, "none", 1); !errors.Is(err, driver.ErrBelowZero) {
				t.Errorf("%q counted down when it is open: %v", name, err)
			}
			setLatch(t, b, name+"2", driver.MaxCount)
			if was, err := latches.DropLatch(ctxFor(t), name+"2"); !was || err != nil {
				t.Errorf("dropped: %t, %v", was, err)
			}
			if was, err := latches.DropLatch(ctxFor(t), name+"2"); was || err != nil {
				t.Errorf("dropped again: %t, %v", was, err)
			}
			if left := ofLatches(server); len(left) > 0 {
				t.Errorf("%q has left %q", name, left)
			}
		}
	})
}

// TestLatchIsCountedTwice by copies of one call; they have the answer of the first, whatever has happened since.
func TestLatchIsCountedTwice(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		latches := b.(driver.Latches)
		setLatch(t, b, "a", 3)
		countDown(t, b, "a", "id {of} any\nkind:tagged", 1, 2)
		countDown(t, b, "a", "other", 1, 1)
		countDown(t, b, "a", "id {of} any\nkind:tagged", 1, 2)
		setLatch(t, b, "a", 3)
		if _, err := latches.CountDown(ctxFor(t), "a", "too much", 2); !errors.Is(err, driver.ErrBelowZero) {
			t.Error(err)
		}
		countDown(t, b, "a", "last", 1, 0)
		countDown(t, b, "a", "last", 1, 0)
		if set, err := latches.SetLatch(ctxFor(t), "a", "anew", 9); !set || err != nil {
			t.Errorf("set anew: %t, %v", set, err)
		}
		countDown(t, b, "a", "last", 1, 0)
		if _, err := latches.CountDown(ctxFor(t), "a", "too much", 2); !errors.Is(err, driver.ErrBelowZero) {
			t.Errorf("a refusal has another answer: %v", err)
		}
		wantCount(t, b, "a", 9)
		keys, _ := server.Do("KEYS", "bedrock_latch:call:*").([]any)
		for _, key := range keys {
			if left, _ := server.Do("PTTL", key).(int64); left <= 50000 || left > 60000 {
				t.Errorf("%v lives for %d ms", key, left)
			}
		}
		if len(keys) != 6 {
			t.Errorf("calls are known: %v", keys)
		}
	})
}

// TestLostReplyToACountDown: whoever makes the call again has its answer, and it counts once.
func TestLostReplyToACountDown(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		proxy := proxyTo(t, server)
		far := open(t, connect(t, target{addrs: []string{proxy.Addr()}}), nil)
		near := open(t, connect(t, single(server)), nil)
		setLatch(t, far, "a", 5)
		countDown(t, far, "a", "warm up", 1, 4)
		proxy.DropReplies(1) // and breaks the connection, which is found out by it: the call is repeated
		countDown(t, far, "a", "one", 1, 3)
		proxy.BlackHole(chaos.Replies)
		ctx, cancel := context.WithTimeout(ctxFor(t), 300*time.Millisecond)
		defer cancel()
		if _, err := far.(driver.Latches).CountDown(ctx, "a", "two", 1); !errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("the answer that is lost: %v", err)
		}
		countDown(t, near, "a", "two", 1, 2)
		wantCount(t, near, "a", 2)
	})
}

// topologies are the kinds of servers.
func topologies(t *testing.T) map[string]target {
	set := testenv.Sentinel(t, 1)
	return map[string]target{
		"standalone": single(testenv.Redis(t, nil)),
		"sentinel":   {addrs: set.Addrs(), master: set.MasterName},
		"cluster":    {addrs: testenv.Cluster(t, 3, 0).Addrs(), cluster: true},
	}
}

// TestLatchOpensUnheard: who listens is told of a latch that is set, opened or dropped, on every kind of server.
func TestLatchOpensUnheard(t *testing.T) {
	for where, to := range topologies(t) {
		for pubsub := range redislock.PubSubSharded + 1 {
			t.Run(fmt.Sprint(where, pubsub), func(t *testing.T) {
				each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
					b := open(t, connect(t, to), &redislock.Options{PubSub: pubsub})
					other := open(t, connect(t, to), &redislock.Options{PubSub: pubsub}) // it does not know how yet
					names := []string{t.Name(), "{" + t.Name() + "}/a"}
					if !to.cluster {
						names = append(names, "{"+t.Name()+"}", t.Name()+"{")
					}
					for _, name := range names {
						latchIsHeard(t, b, other, name)
					}
				})
			})
		}
	}
}

// latchIsHeard has one client listen while the other uses a latch.
func latchIsHeard(t *testing.T, listens, does driver.Backend, name string) {
	t.Helper()
	w, err := listens.(driver.Waiter).Watch(ctxFor(t), name, driver.Latch)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	setLatch(t, does, name, 2)
	awaitSignal(t, w, name+" is set")
	countDown(t, does, name, "one", 1, 1)
	countDown(t, does, name, "two", 1, 0)
	awaitSignal(t, w, name+" is open")
	wantCount(t, listens, name, 0)
	if set, err := does.(driver.Latches).SetLatch(ctxFor(t), name, "again", 1); err != nil || !set {
		t.Fatalf("set again: %t, %v", set, err)
	}
	awaitSignal(t, w, name+" is set again")
	if was, err := does.(driver.Latches).DropLatch(ctxFor(t), name); err != nil || !was {
		t.Fatalf("dropped: %t, %v", was, err)
	}
	awaitSignal(t, w, name+" is dropped")
	if again := listens.(driver.Resumer).Resume(name, driver.Latch); again == nil {
		t.Errorf("%q is not listened for", name)
	} else {
		again.Close()
	}
}

// awaitSignal waits for a signal, however long it takes.
func awaitSignal(t *testing.T, w driver.Watch, what string) {
	t.Helper()
	select {
	case <-w.C():
	case <-ctxFor(t).Done():
		t.Fatalf("not heard: %s", what)
	}
}

// TestLatchIsNoCount: other data is refused, and left alone.
func TestLatchIsNoCount(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	latches := b.(driver.Latches)
	for i, value := range []string{"", "text", "1.5", "1e3", "0x10", " 3"} {
		name := fmt.Sprint("n", i)
		server.Do("SET", name, value)
		_, set := latches.SetLatch(ctxFor(t), name, "set", 1)
		_, down := latches.CountDown(ctxFor(t), name, "down", 1)
		_, count := latches.LatchCount(ctxFor(t), name)
		_, dropped := latches.DropLatch(ctxFor(t), name)
		for way, err := range []error{set, down, count, dropped} {
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("%q, way %d: %v", value, way, err)
			}
		}
		if got := server.Do("GET", name); got != value {
			t.Errorf("%q is %v", value, got)
		}
	}
	server.Do("RPUSH", "list", "x")
	if _, err := latches.LatchCount(ctxFor(t), "list"); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a list: %v", err)
	}
	for what, err := range map[string]error{
		"count 0":       second(latches.SetLatch(ctxFor(t), "a", "x", 0)),
		"count too big": second(latches.SetLatch(ctxFor(t), "a", "x", driver.MaxCount+1)),
		"no ID":         second(latches.SetLatch(ctxFor(t), "a", "", 1)),
		"a long ID":     second(latches.SetLatch(ctxFor(t), "a", strings.Repeat("x", driver.MaxOwner+1), 1)),
		"down by 0":     second(latches.CountDown(ctxFor(t), "a", "x", 0)),
		"a name":        second(latches.CountDown(ctxFor(t), "bedrock_latch:{a}", "x", 1)),
	} {
		if !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestLatchIsHalfDone: whatever this user may not, a call that is refused has done nothing; also not when it is made
// again by one who may.
func TestLatchIsHalfDone(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		full := open(t, connect(t, single(server)), nil)
		for i, rights := range []string{
			"-set", "-publish", "-decrby", "-del", "resetkeys ~a ~b", "-set (~bedrock_latch:* +set)",
		} {
			b := open(t, connect(t, limited(server, "~* &* +@all "+rights)), nil)
			setLatch(t, full, "a", 3)
			_, set := b.(driver.Latches).SetLatch(ctxFor(t), "b", fmt.Sprint("set", i), 2)
			_, down := b.(driver.Latches).CountDown(ctxFor(t), "a", fmt.Sprint("down", i), 1)
			_, last := b.(driver.Latches).CountDown(ctxFor(t), "a", fmt.Sprint("last", i), 2)
			for what, err := range map[string]error{"set": set, "down": down, "last": last} {
				if err != nil && !errors.Is(err, driver.ErrRefused) {
					t.Errorf("%s, %s: %v", rights, what, err)
				}
			}
			if set == nil && down == nil && last == nil {
				t.Errorf("%s: nothing is refused", rights)
			}
			want := 3
			for n, err := range map[int]error{1: down, 2: last} {
				if err == nil {
					want -= n
				}
			}
			wantCount(t, full, "a", want)
			if n, err := full.(driver.Latches).LatchCount(ctxFor(t), "b"); err != nil || (n > 0) != (set == nil) {
				t.Errorf("%s: set: %v, and the count is %d (%v)", rights, set, n, err)
			}
			if set != nil && server.Do("EXISTS", "bedrock_latch:{b}") != int64(0) {
				t.Errorf("%s: a mark is left", rights)
			}
			if down != nil {
				countDown(t, full, "a", fmt.Sprint("down", i), 1, want-1)
			}
			server.Do("FLUSHALL")
		}
	})
}

// TestLatchOutlastsItsContext: every call ends with it, also while the server is silent.
func TestLatchOutlastsItsContext(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		latches := b.(driver.Latches)
		setLatch(t, b, "a", 3)
		server.Freeze()
		defer server.Thaw()
		for name, call := range map[string]func(context.Context) error{
			"set":   func(ctx context.Context) error { return second(latches.SetLatch(ctx, "b", "x", 1)) },
			"down":  func(ctx context.Context) error { return second(latches.CountDown(ctx, "a", "x", 1)) },
			"count": func(ctx context.Context) error { return second(latches.LatchCount(ctx, "a")) },
			"drop":  func(ctx context.Context) error { return second(latches.DropLatch(ctx, "a")) },
		} {
			ctx, cancel := context.WithTimeout(ctxFor(t), 30*time.Millisecond)
			start := time.Now()
			err := call(ctx)
			if took := time.Since(start); took > 230*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v after %s", name, err, took)
			}
			cancel()
			if err := call(ctx); !errors.Is(err, driver.ErrUnavailable) {
				t.Errorf("%s after its time: %v", name, err)
			}
		}
	})
}

// TestLatchIsALock: nobody holds it, and nobody can take it away as a lock.
func TestLatchIsALock(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	setLatch(t, b, "a", 3)
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
	if err != nil || len(info.Holders) > 0 {
		t.Errorf("inspected: %+v, %v", info, err)
	}
	if infos, err := b.(driver.Inspector).List(ctxFor(t), "", 9); err != nil || len(infos) > 0 {
		t.Errorf("listed: %+v, %v", infos, err)
	}
	if _, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "a"); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("taken away: %v", err)
	}
	wantCount(t, b, "a", 3)
}

// TestRedlockHasNoLatches: its clients have none.
func TestRedlockHasNoLatches(t *testing.T) {
	b := open(t, connectGoredis(t, single(testenv.Redis(t, nil))), &redislock.Options{Profile: redislock.Redlock})
	latches := b.(driver.Latches)
	for i, err := range []error{
		second(latches.SetLatch(ctxFor(t), "a", "x", 1)), second(latches.CountDown(ctxFor(t), "a", "x", 1)),
		second(latches.LatchCount(ctxFor(t), "a")), second(latches.DropLatch(ctxFor(t), "a")),
		second(b.(driver.Waiter).Watch(ctxFor(t), "a", driver.Latch)),
	} {
		if !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("way %d: %v", i, err)
		}
	}
}

// TestRedissonAwaitsALatchWithATag: in a cluster its channel is in another slot, and told all the same.
func TestRedissonAwaitsALatchWithATag(t *testing.T) {
	set := testenv.Cluster(t, 3, 0)
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		to := target{addrs: set.Addrs(), cluster: true}
		for _, pubsub := range []redislock.PubSub{redislock.PubSubClassic, redislock.PubSubSharded} {
			name := fmt.Sprint("{", t.Name(), pubsub, "}/a")
			b := open(t, connect(t, to), &redislock.Options{PubSub: pubsub})
			channel := "redisson_countdownlatch__channel__{" + name + "}"
			heard := listenAs(t, connect(t, to), channel, pubsub == redislock.PubSubSharded)
			setLatch(t, b, name, 1)
			countDown(t, b, name, "one", 1, 0)
			err := errors.Join(second(b.(driver.Latches).SetLatch(ctxFor(t), name, "two", 1)),
				second(b.(driver.Latches).DropLatch(ctxFor(t), name)))
			if err != nil {
				t.Error(err)
			}
			var texts []string
			for len(texts) < 4 {
				select {
				case text := <-heard:
					texts = append(texts, text)
				case <-ctxFor(t).Done():
					t.Fatalf("heard only %q", texts)
				}
			}
			if want := []string{"1", "0", "1", "0"}; !slices.Equal(texts, want) {
				t.Errorf("heard %q, want %q", texts, want)
			}
		}
	})
}

// listener hears what is said on a channel.
type listener struct {
	subscribed chan struct{}
	texts      chan string
}

func (l *listener) Subscribed(string)      { close(l.subscribed) }
func (l *listener) Unsubscribed(string)    {}
func (l *listener) Message(_, text string) { l.texts <- text }
func (l *listener) Broken(error)           {}

// listenAs listens to a channel as Redisson does.
func listenAs(t *testing.T, conn redisconn.Conn, channel string, sharded bool) <-chan string {
	t.Helper()
	l := &listener{subscribed: make(chan struct{}), texts: make(chan string, 99)}
	node, err := conn.Owner(ctxFor(t), channel, false)
	if err != nil {
		t.Fatal(err)
	}
	line, err := conn.Listen(ctxFor(t), node, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	if err := line.Subscribe(ctxFor(t), channel, sharded); err != nil {
		t.Fatal(err)
	}
	<-l.subscribed
	return l.texts
}
