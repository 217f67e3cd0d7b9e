package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

const (
	fairQueue = "redisson_lock_queue:{a}"
	fairTimes = "redisson_lock_timeout:{a}"
)

// waiting asks for the fair lock "a" for somebody who waits.
func waiting(owner string) driver.Request {
	req := request("a", owner)
	req.Fair, req.Waits = true, true
	return req
}

// mustWait asks and must get a place in line.
func mustWait(t *testing.T, b driver.Backend, owner string) *driver.HeldError {
	t.Helper()
	g, err := b.Acquire(ctxFor(t), waiting(owner))
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatalf("%s: granted %+v, %v", owner, g, err)
	}
	return held
}

// standLikeJava puts a waiter of Redisson's into the line, as its script does.
func standLikeJava(t *testing.T, server *testenv.RedisServer, owner string, wait time.Duration) {
	t.Helper()
	server.Do("RPUSH", fairQueue, owner)
	server.Do("ZADD", fairTimes, strconv.FormatInt(time.Now().Add(wait).UnixMilli(), 10), owner)
}

func wantLine(t *testing.T, server *testenv.RedisServer, want ...string) {
	t.Helper()
	if got := fmt.Sprint(server.Do("LRANGE", fairQueue, "0", "-1")); got != fmt.Sprint(want) {
		t.Errorf("in line are %v, want %v", got, want)
	}
	if n := fmt.Sprint(server.Do("ZCARD", fairTimes)); n != strconv.Itoa(len(want)) {
		t.Errorf("%s have a time, want %d", n, len(want))
	}
}

// TestFairLockGoesInOrder: many goroutines of several processes.
func TestFairLockGoesInOrder(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		watcher := fairClient(t, connect(t, single(server)), nil)
		clients := []*lock.Client{watcher}
		for range 3 {
			clients = append(clients, fairClient(t, connect(t, single(server)), nil))
		}
		for name, opts := range map[string]*lock.MutexOptions{
			"granted": {Fair: true}, "asks": {Fair: true, Fixed: true},
		} {
			first, err := watcher.Mutex("a", &lock.MutexOptions{Fair: true}).Lock(ctxFor(t))
			if err != nil {
				t.Fatal(err)
			}
			var group sync.WaitGroup
			var order []int
			const waiters = 12
			for i := range waiters {
				group.Go(func() {
					lease, err := clients[i%4].Mutex("a", opts).Lock(ctxFor(t))
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					order = append(order, i)
					if err := lease.Unlock(ctxFor(t)); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
				awaitLine(t, watcher, i+1)
			}
			if err := first.Unlock(ctxFor(t)); err != nil {
				t.Fatal(err)
			}
			group.Wait()
			for i := range order {
				if order[i] != i {
					t.Errorf("%s: in the order %v", name, order)
					break
				}
			}
			wantLine(t, server)
		}
	})
}

func fairClient(t *testing.T, conn redisconn.Conn, opts *redislock.Options) *lock.Client {
	t.Helper()
	c, err := redislock.New(conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(ctxFor(t)); err != nil {
			t.Error(err)
		}
	})
	return c
}

// awaitLine waits until so many are in the line of "a".
func awaitLine(t *testing.T, c *lock.Client, n int) {
	t.Helper()
	for start := time.Now(); ; {
		info, err := c.Inspect(ctxFor(t), "a")
		switch {
		case err != nil:
			t.Fatal(err)
		case len(info.Line) == n:
			return
		case time.Since(start) > 10*time.Second:
			t.Fatalf("in line are %+v, want %d", info.Line, n)
		}
	}
}

// TestJavaInLineIsTold: a release tells a waiter of Redisson's on its channel, who is passed over when it does not
// come in time, and not before.
func TestJavaInLineIsTold(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		g := mustAcquire(t, b, waiting(uuidA+":1"))
		standLikeJava(t, server, javas, time.Hour)
		turn, err := b.(driver.TurnWaiter).WatchTurn(ctxFor(t), "a", javas)
		if err != nil {
			t.Fatal(err)
		}
		defer turn.Close()
		if held := mustWait(t, b, uuidA+":2"); held.Place != 2 || !held.Listen {
			t.Errorf("behind one of Redisson's: %+v", held)
		}
		mustRelease(t, b, g)
		if !heard(turn) {
			t.Error("the one of Redisson's was not told")
		}
		held := mustWait(t, b, uuidA+":2")
		if held.Owner != javas || !held.Waits || held.TTL < 3*time.Second || held.TTL > 5*time.Second {
			t.Errorf("while it may come: %+v", held)
		}
		var second driver.Grant
		for start := time.Now(); ; {
			if second, err = b.Acquire(ctxFor(t), waiting(uuidA+":2")); err == nil {
				break
			}
			if since := time.Since(start); since > 10*time.Second {
				t.Fatalf("after %v: %v", since, err)
			}
			<-time.After(100 * time.Millisecond)
		}
		wantLine(t, server)
		mustRelease(t, b, second)
	})
}

// TestJavaComesInTime: one that was told, had the lock, and waits again was not told yet.
func TestJavaComesInTime(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	g := mustAcquire(t, b, waiting(uuidA+":1"))
	standLikeJava(t, server, javas, time.Hour)
	mustRelease(t, b, g)
	mustWait(t, b, uuidA+":2")
	for range 2 { // it has the lock for longer than it has time to come
		server.Do("LPOP", fairQueue)
		server.Do("ZREM", fairTimes, javas)
		server.Do("HSET", "a", javas, "1")
		<-time.After(3 * time.Second)
		mustWait(t, b, uuidA+":2")
		server.Do("DEL", "a")
		server.Do("LPUSH", fairQueue, javas)
		server.Do("ZADD", fairTimes, strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10), javas)
		if held := mustWait(t, b, uuidA+":2"); held.Owner != javas || held.TTL < 4*time.Second {
			t.Errorf("it has %v left to come: %+v", held.TTL, held)
		}
	}
}

// TestPutOutByRedissonKeepsItsPlace: Redisson puts out who has not come by the time that it was reckoned to.
func TestPutOutByRedissonKeepsItsPlace(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	mustAcquire(t, b, waiting(uuidA+":1"))
	for i := 2; i <= 4; i++ {
		mustWait(t, b, uuidA+":"+strconv.Itoa(i))
	}
	standLikeJava(t, server, javas, time.Hour)
	for _, order := range [][]string{{":3", ":2"}, {":2", ":3"}} {
		for range 2 {
			server.Do("ZREM", fairTimes, fmt.Sprint(server.Do("LPOP", fairQueue)))
		}
		wantLine(t, server, uuidA+":4", javas)
		for _, owner := range order {
			mustWait(t, b, uuidA+owner)
		}
		wantLine(t, server, uuidA+":2", uuidA+":3", uuidA+":4", javas)
	}
}

// TestTimesOfTheLine: Redisson puts out who is at the head when its time is over, takes off the others' what one that
// goes has added, and refuses to reckon with who has none.
func TestTimesOfTheLine(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	g := mustAcquire(t, b, waiting(uuidA+":1"))
	score := func(owner string) time.Duration {
		ms, err := strconv.ParseFloat(fmt.Sprint(server.Do("ZSCORE", fairTimes, owner)), 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(time.UnixMilli(int64(ms))).Round(time.Second)
	}
	mustWait(t, b, uuidA+":2")
	standLikeJava(t, server, javas, time.Hour)
	mustWait(t, b, uuidA+":3")
	first, last := score(uuidA+":2"), score(uuidA+":3")
	if first != 15*time.Second || last != time.Hour+15*time.Second {
		t.Errorf("ours may be put out in %v and %v", first, last)
	}
	mustRelease(t, b, g)
	mustAcquire(t, b, waiting(uuidA+":2"))
	if left := score(javas); left != time.Hour-15*time.Second {
		t.Errorf("the one of Redisson's may be put out in %v", left)
	}
	if left := fmt.Sprint(server.Do("PTTL", fairQueue)); left == "-1" {
		t.Error("the line is kept for ever")
	}
}

// TestFairNameOfAnother: "{a}" and "a" have one line in Redisson.
func TestFairNameOfAnother(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	req := waiting(uuidA + ":1")
	for name, refused := range map[string]bool{"{a}": true, "{a}/b": false, "x{a}": false, "{a{b}": false} {
		req.Name = name
		_, err := b.Acquire(ctxFor(t), req)
		told := err != nil && strings.Contains(err.Error(), `would wait in the line of the lock "a"`)
		if errors.Is(err, driver.ErrRefused) != refused || told != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlainReleaseServesTheLine: who does not stand in line gives the lock to who does.
func TestPlainReleaseServesTheLine(t *testing.T) {
	server := testenv.Redis(t, nil)
	plain, fair := open(t, connectGoredis(t, single(server)), nil), open(t, connectGoredis(t, single(server)), nil)
	for name, free := range map[string]func(driver.Grant){
		"released": func(g driver.Grant) { mustRelease(t, plain, g) },
		"forced": func(driver.Grant) {
			if held, err := plain.(driver.Forcer).ForceRelease(ctxFor(t), "a"); err != nil || !held {
				t.Errorf("force: %v, %v", held, err)
			}
		},
	} {
		g := mustAcquire(t, plain, request("a", uuidA+":1"))
		mustWait(t, fair, uuidB+":1")
		turn, err := fair.(driver.TurnWaiter).WatchTurn(ctxFor(t), "a", uuidB+":1")
		if err != nil {
			t.Fatal(err)
		}
		free(g)
		if !heard(turn) {
			t.Errorf("%s: who waits was not told", name)
		}
		turn.Close()
		mustRelease(t, fair, mustAcquire(t, fair, waiting(uuidB+":1")))
	}
}

// TestGoneWaiterIsPassedOver: its process has died, so that its connections are closed.
func TestGoneWaiterIsPassedOver(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		away := open(t, connect(t, single(server)), nil)
		here := fairClient(t, connect(t, single(server)), nil)
		first, err := here.Mutex("a", &lock.MutexOptions{Fair: true}).Lock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		away.(driver.Successor).Inherit(func(driver.Grant) {})
		awaitStanding(t, away, uuidA+":1")
		got := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // a claim is longer
		defer cancel()
		go func() {
			lease, err := here.Mutex("a", &lock.MutexOptions{Fair: true}).Lock(ctx)
			if err == nil {
				err = lease.Unlock(context.WithoutCancel(ctx))
			}
			got <- err
		}()
		awaitLine(t, here, 2)
		if err := away.Close(); err != nil {
			t.Fatal(err)
		}
		awaitListeners(t, server, "bedrock_client:"+uuidA[:18], 0)
		if err := first.Unlock(ctxFor(t)); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Errorf("behind one whose process has died: %v", err)
		}
	})
}

// TestTheDeadHaveNoPlace: who has not asked again is not counted, wherever in line.
func TestTheDeadHaveNoPlace(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	mustAcquire(t, b, waiting(uuidA+":1"))
	mustWait(t, b, uuidA+":2")
	dead := waiting(uuidB + ":1")
	dead.TTL = 100 * time.Millisecond
	if _, err := b.Acquire(ctxFor(t), dead); !errors.Is(err, driver.ErrHeld) {
		t.Fatal(err)
	}
	if held := mustWait(t, b, uuidA+":3"); held.Place != 3 {
		t.Errorf("behind two: %+v", held)
	}
	<-time.After(150 * time.Millisecond)
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
	if err != nil || len(info.Line) != 2 {
		t.Errorf("in line are %+v, %v", info.Line, err)
	}
	if held := mustWait(t, b, uuidA+":3"); held.Place != 2 {
		t.Errorf("behind one that lives: %+v", held)
	}
	wantLine(t, server, uuidA+":2", uuidA+":3")
}

// TestMissedGrantIsAskedFor: the connection for messages breaks, and is made again; who stands in line is told so.
func TestMissedGrantIsAskedFor(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		told := make(chan driver.Grant, 16)
		b.(driver.Successor).Inherit(func(g driver.Grant) { told <- g })
		mustAcquire(t, b, waiting(uuidB+":1"))
		awaitStanding(t, b, uuidB+":2")
		server.Do("CLIENT", "KILL", "TYPE", "pubsub")
		select {
		case g := <-told:
			if g.Name != "a" || g.Owner != uuidB+":2" || g.Tokens != 0 {
				t.Errorf("told of %+v", g)
			}
		case <-time.After(5 * time.Second):
			t.Error("who stands in line was not told that it may have missed something")
		}
	})
}

// awaitStanding has an owner stand in line so that it may be given the lock, which needs the client to listen.
func awaitStanding(t *testing.T, b driver.Backend, owner string) {
	t.Helper()
	for claim := time.Duration(0); claim == 0; {
		_, err := b.(driver.Successor).Stand(ctxFor(t), waiting(owner))
		held, ok := errors.AsType[*driver.HeldError](err)
		if !ok {
			t.Fatal(err)
		}
		claim = held.Claim
	}
}
