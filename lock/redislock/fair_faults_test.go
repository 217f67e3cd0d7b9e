package redislock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
)

// TestWhoMayNotGiveMakesTwoHolders: whoever frees the lock may lack a command that it takes to give it to the first in
// line. That one is told only of what it has, and what it has ends.
func TestWhoMayNotGiveMakesTwoHolders(t *testing.T) {
	for _, command := range []string{"hset", "pexpire", "lpos", "lrem", "zrem", "hdel", "llen", "hlen", "publish"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t, nil)
			b := open(t, connectGoredis(t, single(server)), nil)
			told := make(chan driver.Grant, 16)
			b.(driver.Successor).Inherit(func(g driver.Grant) { told <- g })
			mustAcquire(t, b, waiting(uuidA+":1"))
			awaitStanding(t, b, uuidA+":2")
			lacking := open(t, connectGoredis(t, limited(server, "~* &* +@all -"+command)), nil)
			_, _ = lacking.(driver.Forcer).ForceRelease(ctxFor(t), "a") // it may be refused
			info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
			if err != nil {
				t.Fatal(err)
			}
			has := len(info.Holders) == 1 && info.Holders[0].Owner == uuidA+":2"
			if has && info.Holders[0].TTL < 0 {
				t.Error("it has a lock that never ends")
			}
			select {
			case g := <-told:
				if !has {
					t.Errorf("told of %+v, but the lock has %+v", g, info.Holders)
				}
			case <-time.After(50 * time.Millisecond):
				if has {
					t.Error("given the lock, and not told")
				}
			}
		})
	}
}

// TestWhoIsRefusedHasNoPlace: who may not do all that a place in line takes is in nobody's way.
func TestWhoIsRefusedHasNoPlace(t *testing.T) {
	for _, command := range []string{"hset", "zadd", "pexpire", "rpush", "hsetnx", "hlen", "hkeys", "pttl", "get"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t, nil)
			mustAcquire(t, open(t, connectGoredis(t, single(server)), nil), request("a", uuidA+":1"))
			lacking := open(t, connectGoredis(t, limited(server, "~* &* +@all -"+command)), nil)
			if _, err := lacking.Acquire(ctxFor(t), waiting(uuidB+":1")); !errors.Is(err, driver.ErrRefused) {
				t.Errorf("without %s: %v", command, err)
			}
			wantLine(t, server)
		})
	}
}

// TestPassedOnLockForgetsTheLine: who stands in line goes before those to whom the lock would be passed on.
func TestPassedOnLockForgetsTheLine(t *testing.T) {
	server := testenv.Redis(t, nil)
	a, fair := open(t, connectGoredis(t, single(server)), nil), open(t, connectGoredis(t, single(server)), nil)
	g := held(t, a, "a", uuidA+":1")
	heir := newStander(t, connectGoredis(t, single(server)), uuidB, "a")
	heir.stands(t, request("a", uuidB+":1"))
	mustWait(t, fair, javas)
	turn, err := fair.(driver.TurnWaiter).WatchTurn(ctxFor(t), "a", javas)
	if err != nil {
		t.Fatal(err)
	}
	defer turn.Close()
	mustRelease(t, a, g)
	if !heard(turn) {
		t.Error("who stands in line was not told")
	}
	mustRelease(t, fair, mustAcquire(t, fair, waiting(javas)))
}

// TestOddWaitersStopTheLine: another program may have put anything there.
func TestOddWaitersStopTheLine(t *testing.T) {
	for name, owner := range map[string]string{"blank": "my id:1", "nothing": "", "told": "told", "newline": "a\nb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t, nil)
			b := open(t, connectGoredis(t, single(server)), nil)
			server.Do("RPUSH", fairQueue, owner)
			for start := time.Now(); ; {
				_, err := b.Acquire(ctxFor(t), waiting(uuidA+":1"))
				if err == nil {
					return
				}
				if time.Since(start) > 10*time.Second {
					t.Fatal(err)
				}
				<-time.After(100 * time.Millisecond)
			}
		})
	}
}

// TestOddOwnersInLine: owners that come through a server are what its callers say.
func TestOddOwnersInLine(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	b.(driver.Successor).Inherit(func(driver.Grant) {})
	g := mustAcquire(t, b, waiting(uuidA+":1"))
	awaitStanding(t, b, uuidA+":2")
	owners := []string{
		"told", "x", "a b", "1 2 3 4 5 g {}", "%d+", "é:1", uuidA + ":x", uuidA + ":1 ", strings.Repeat("o", 128),
	}
	for i, owner := range owners {
		req := waiting(owner)
		req.Meta = "{\"a\": \"1 2 3\n\"}"
		_, err := b.(driver.Successor).Stand(ctxFor(t), req)
		if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.Place != i+2 {
			t.Fatalf("%q: %v", owner, err)
		}
	}
	info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a")
	if err != nil || len(info.Line) != len(owners)+1 || info.Line[1].Meta != "{\"a\": \"1 2 3\n\"}" {
		t.Errorf("in line are %+v, %v", info.Line, err)
	}
	mustRelease(t, b, g)
	mustRelease(t, b, driver.Grant{Name: "a", Owner: uuidA + ":2"})
	for i, owner := range owners {
		if i%2 == 0 { // the others give up
			mustRelease(t, b, mustAcquire(t, b, waiting(owner)))
			continue
		}
		if _, err := b.Release(ctxFor(t), driver.Grant{Name: "a", Owner: owner}); !errors.Is(err, driver.ErrLost) {
			t.Errorf("%q gives up: %v", owner, err)
		}
	}
	wantLine(t, server)
	if left := fmt.Sprint(server.Do("EXISTS", "a", "bedrock_line:{a}")); left != "0" {
		t.Errorf("left are %v", server.Do("KEYS", "*"))
	}
}

// TestRedissonsWaitBehindTheUnheard: one of Redisson's comes only if it is at the head. Who hears nothing comes back
// into its place.
func TestRedissonsWaitBehindTheUnheard(t *testing.T) {
	server := testenv.Redis(t, nil)
	away, b := open(t, connectGoredis(t, single(server)), nil), open(t, connectGoredis(t, single(server)), nil)
	away.(driver.Successor).Inherit(func(driver.Grant) {})
	g := mustAcquire(t, b, request("a", uuidB+":1"))
	awaitStanding(t, away, uuidA+":1")
	standLikeJava(t, server, javas, time.Hour)
	mustWait(t, b, uuidB+":2")
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}
	awaitListeners(t, server, "bedrock_client:"+uuidA[:18], 0)
	mustRelease(t, b, g)
	wantLine(t, server, javas, uuidB+":2")
	back := open(t, connectGoredis(t, single(server)), nil)
	mustRelease(t, back, mustAcquire(t, back, waiting(uuidA+":1")))
}

// TestTheDeadOutliveWhatTheyHaveSaid: who stands in line without that would be taken for one of Redisson's, and waited
// for.
func TestTheDeadOutliveWhatTheyHaveSaid(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	mustAcquire(t, b, waiting(uuidA+":1"))
	mustWait(t, b, uuidA+":2")
	for _, others := range []bool{false, true} {
		if others {
			standLikeJava(t, server, javas, time.Hour)
			mustWait(t, b, uuidA+":2")
		}
		line, said := server.Do("PTTL", fairQueue).(int64), server.Do("PTTL", "bedrock_line:{a}").(int64)
		if said < line-100 || (line > time.Minute.Milliseconds()) != others {
			t.Errorf("the line is kept for %d ms, what ours have said for %d ms", line, said)
		}
	}
	server.Do("DEL", "bedrock_line:{a}")
	_, err := b.Release(ctxFor(t), driver.Grant{Name: "a", Owner: uuidA + ":2"})
	if !errors.Is(err, driver.ErrLost) {
		t.Error(err)
	}
	wantLine(t, server, javas)
}

// TestWhatTheDeadHaveSaidIsForgotten: Redisson puts out who has died, and does not know what that one has said.
func TestWhatTheDeadHaveSaidIsForgotten(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	mustAcquire(t, b, waiting(uuidA+":1"))
	dead := waiting(uuidB + ":1")
	dead.TTL = 20 * time.Millisecond
	if _, err := b.Acquire(ctxFor(t), dead); !errors.Is(err, driver.ErrHeld) {
		t.Fatal(err)
	}
	server.Do("ZREM", fairTimes, fmt.Sprint(server.Do("LPOP", fairQueue)))
	<-time.After(50 * time.Millisecond)
	for range 20 {
		mustWait(t, b, uuidA+":2")
	}
	if said := fmt.Sprint(server.Do("HKEYS", "bedrock_line:{a}")); said != fmt.Sprint([]string{uuidA + ":2"}) {
		t.Errorf("known are %s", said)
	}
}

// TestLinesOfOtherNamesAreServed: the line of "{a}" would be that of "a".
func TestLinesOfOtherNamesAreServed(t *testing.T) {
	server := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(server)), nil)
	mustAcquire(t, b, waiting(uuidA+":1"))
	mustWait(t, b, uuidA+":2")
	g := held(t, b, "{a}", uuidB+":1")
	server.Do("HSET", "{a}", "bedrock:heirs", "")
	mustRelease(t, b, g)
	held(t, b, "{a}", uuidB+":2")
	if _, err := b.(driver.Forcer).ForceRelease(ctxFor(t), "{a}"); err != nil {
		t.Error(err)
	}
	if info, err := b.(driver.Inspector).Inspect(ctxFor(t), "{a}"); err != nil || len(info.Line) != 0 {
		t.Errorf("in the line of {a} are %+v, %v", info.Line, err)
	}
	if n := fmt.Sprint(server.Do("EXISTS", "bedrock_line:{a}:tagged")); n != "0" {
		t.Error("somebody was told that {a} is free")
	}
	wantLine(t, server, uuidA+":2")
}

// TestCounterHasAnothersLife: that of the one to whom the lock was to be given.
func TestCounterHasAnothersLife(t *testing.T) {
	server := testenv.Redis(t, nil)
	away := open(t, connectGoredis(t, single(server)), nil)
	ever := open(t, connectGoredis(t, single(server)), &redislock.Options{TokenTTL: -1})
	away.(driver.Successor).Inherit(func(driver.Grant) {})
	mustAcquire(t, ever, request("a", uuidB+":1"))
	awaitStanding(t, away, uuidA+":1")
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}
	awaitListeners(t, server, "bedrock_client:"+uuidA[:18], 0)
	server.Do("DEL", "a")
	mustAcquire(t, ever, waiting(uuidB+":2"))
	if left := fmt.Sprint(server.Do("PTTL", "redisson_lock_token:{a}")); left != "-1" {
		t.Errorf("the counter is kept for %s ms", left)
	}
}
