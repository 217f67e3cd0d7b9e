package redislock_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// profiles are the layouts, by the counter of the lock "a".
func profiles() map[redislock.Profile]string {
	return map[redislock.Profile]string{
		redislock.Redisson: "redisson_lock_token:{a}", redislock.Redlock: "bedrock_token:{a}",
	}
}

// eachProfile runs a test with every library and layout.
func eachProfile(
	t *testing.T, test func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, p redislock.Profile),
) {
	t.Helper()
	for profile := range profiles() {
		t.Run(fmt.Sprint("profile", profile), func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) { test(t, connect, profile) })
		})
	}
}

// vote asks one of several servers for three tokens.
func vote(owner string, above uint64, age time.Duration) driver.Request {
	req := request("a", owner)
	req.Tokens, req.Above, req.Age = 3, above, age
	return req
}

// gives checks the tokens of a vote that is granted, and that the counter is the last of them.
func gives(t *testing.T, s *testenv.RedisServer, b driver.Backend, req driver.Request, first uint64) driver.Grant {
	t.Helper()
	g := mustAcquire(t, b, req)
	if g.Token != first || g.Tokens != req.Tokens || g.TTL != req.TTL || g.Recalled {
		t.Fatalf("above %d: the grant is %+v, want %d tokens from %d", req.Above, g, req.Tokens, first)
	}
	if counter, last := counterOf(s), first+2; counter != strconv.FormatUint(last, 10) {
		t.Errorf("the counter is %v after %d", counter, last)
	}
	return g
}

// counterOf returns the counter of the lock "a", whatever the layout.
func counterOf(s *testenv.RedisServer) any {
	for _, key := range profiles() {
		if counter := s.Do("GET", key); counter != nil {
			return counter
		}
	}
	return nil
}

// TestVoteIsNotTheNextToken after that which it is to be above, or after the newest.
func TestVoteIsNotTheNextToken(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, profile redislock.Profile) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), &redislock.Options{Profile: profile})
		ahead := uint64(time.Now().Add(24 * time.Hour).UnixMicro())
		mustRelease(t, b, gives(t, s, b, vote(uuidA+":1", ahead, 0), ahead+1)) // the counter is not there yet
		mustRelease(t, b, gives(t, s, b, vote(uuidA+":2", ahead, 0), ahead+4))
		mustRelease(t, b, gives(t, s, b, vote(uuidA+":3", 1, 0), ahead+7))
		mustRelease(t, b, gives(t, s, b, vote(uuidA+":4", ahead+100, 0), ahead+101))
		if g := mustAcquire(t, b, request("a", uuidA+":5")); g.Token != ahead+104 {
			t.Errorf("a lock of its own has token %d, not %d", g.Token, ahead+104)
		}
		if left := s.Do("PTTL", profiles()[profile]).(int64); left < 23*3600*1000 {
			t.Errorf("the counter lives for %d ms", left)
		}

		s.Do("FLUSHALL")
		before := uint64(time.Now().Add(-time.Minute).UnixMicro())
		g := mustAcquire(t, b, vote(uuidA+":6", 5, 0))
		if g.Token < before || counterOf(s) != strconv.FormatUint(g.Token+uint64(g.Tokens)-1, 10) {
			t.Errorf("without a counter: %d tokens from %d, and the counter %v", g.Tokens, g.Token, counterOf(s))
		}
		mustRelease(t, b, g)
		s.Do("SET", profiles()[profile], "7", "PX", "100000") // far behind the clock
		mustRelease(t, b, gives(t, s, b, vote(uuidA+":7", 20, 0), 21))
		// Only the age is asked for: the tokens are the server's own choice.
		g = becomesOldEnough(t, b, vote(uuidA+":8", 0, time.Nanosecond))
		if g.Token < before || g.Tokens != 3 {
			t.Errorf("above nothing there are %d tokens from %d", g.Tokens, g.Token)
		}
	})
}

// TestOwnVoteKeepsLowTokens that others have given out, too.
func TestOwnVoteKeepsLowTokens(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, profile redislock.Profile) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), &redislock.Options{Profile: profile})
		req := vote(uuidA+":1", uint64(time.Now().Add(24*time.Hour).UnixMicro()), 0)
		first := gives(t, s, b, req, req.Above+1)
		req.Above, req.TTL = first.Token+2, time.Minute
		again := gives(t, s, b, req, first.Token+3)
		if left := s.Do("PTTL", "a").(int64); left < 31000 {
			t.Errorf("it lives for %d ms", left)
		}
		for _, lower := range []uint64{0, first.Token, first.Token + 2} {
			req.Above, req.Age = lower, time.Hour // the server is younger, but has granted it
			g := mustAcquire(t, b, req)
			if g.Token < again.Token || g.Token > again.Token+2 {
				t.Errorf("above %d: token %d is not one of those from %d", lower, g.Token, again.Token)
			}
		}
		s.Do("DEL", profiles()[profile]) // its tokens are not known any more
		req.Above = again.Token + 50
		mustRelease(t, b, gives(t, s, b, req, req.Above+1))
	})
}

// TestHeirOfAVoteHasALowerToken: it was reserved before the holder's was raised.
func TestHeirOfAVoteHasALowerToken(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		a, other := open(t, connect(t, single(s)), nil), open(t, connect(t, single(s)), nil)
		told := make(chan driver.Grant, 9)
		other.(driver.Successor).Inherit(func(g driver.Grant) { told <- g })
		req := vote(uuidA+":1", 1, 0)
		req.Meta = "{}" // those who hold and have none are passed on by nobody
		g := mustAcquire(t, a, req)
		waits := request("a", uuidB+":1")
		held := standing(t, other, waits)
		if held.Token <= g.Token {
			t.Fatalf("%d is reserved, %d is had", held.Token, g.Token)
		}
		req.Above = held.Token + 1000
		raised := mustAcquire(t, a, req)
		if raised.Token != req.Above+1 {
			t.Fatalf("token %d above %d", raised.Token, req.Above)
		}
		if g := mustAcquire(t, a, req); g.Token <= req.Above {
			t.Errorf("it was raised to %d, and is told as %d", raised.Token, g.Token)
		}
		mustRelease(t, a, raised)
		next := mustAcquire(t, other, waits)
		if next.Token <= raised.Token+2 {
			t.Errorf("the next one has token %d after %d", next.Token, raised.Token+2)
		}
		mustRelease(t, other, next)
		for len(told) > 0 {
			if g := <-told; g.Owner == waits.Owner && g.Token != 0 && g.Token <= raised.Token {
				t.Errorf("it was passed on with %+v", g)
			}
		}
	})
}

// standing has a request stand in line.
func standing(t *testing.T, b driver.Backend, req driver.Request) *driver.HeldError {
	t.Helper()
	w, err := b.(driver.Waiter).Watch(ctxFor(t), req.Name, driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	for ctx := ctxFor(t); ; {
		_, err := b.(driver.Successor).Stand(ctx, req)
		held, ok := errors.AsType[*driver.HeldError](err)
		if !ok {
			t.Fatalf("it stands with %v", err)
		}
		if held.Claim > 0 {
			return held
		}
	}
}

// TestVoteIsTakenForAMutexOnly of what is there already.
func TestVoteIsTakenForAMutexOnly(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), nil)
		req := request("a", uuidA+":1")
		for _, mode := range []driver.Mode{driver.Shared, driver.Permit} {
			if req.Mode = mode; mode == driver.Permit {
				req.Owner, req.Permits, req.Limit = uuidB+":1", 1, 2
			}
			g := mustAcquire(t, b, req)
			_, err := b.Acquire(ctxFor(t), vote(uuidA+":2", 9, time.Hour))
			kind, ok := errors.AsType[*driver.KindError](err)
			if !ok || kind.Found != mode.Kind() {
				t.Errorf("%s: %v", mode, err)
			}
			mustRelease(t, b, g)
		}
		// Nobody has permits any more: the name is free, but not on a server that is too young.
		if _, err := b.Acquire(ctxFor(t), vote(uuidA+":2", 9, time.Hour)); !errors.Is(err, driver.ErrYoung) {
			t.Errorf("a semaphore of which nobody has permits: %v", err)
		}
		mustRelease(t, b, mustAcquire(t, b, vote(uuidA+":2", 9, 0)))
		for _, command := range [][]any{{"SET", "a", "text"}, {"RPUSH", "a", "text"}} {
			s.Do("DEL", "a")
			s.Do(command...)
			_, err := b.Acquire(ctxFor(t), vote(uuidA+":3", 9, 0))
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("%v: %v", command, err)
			}
		}
		s.Do("DEL", "a")
		s.Do("HSET", "a", javas, "2")
		_, err := b.Acquire(ctxFor(t), vote(uuidA+":3", 9, 0))
		if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.Owner != javas {
			t.Errorf("Java's: %v", err)
		}
	})
}

// TestVoteCountsOnFromAnything: a counter that is not a number, or too high a one, is no counter.
func TestVoteCountsOnFromAnything(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, profile redislock.Profile) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), &redislock.Options{Profile: profile})
		for _, counter := range []string{"text", "9000000000000001", "nan"} {
			s.Do("SET", profiles()[profile], counter)
			_, err := b.Acquire(ctxFor(t), vote(uuidA+":1", 5, 0))
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("%s: %v", counter, err)
			}
			if s.Do("EXISTS", "a") != int64(0) || counterOf(s) != counter {
				t.Errorf("%s: something was changed", counter)
			}
		}
	})
}

// TestVoteStoresNoMetadata beside the grant.
func TestVoteStoresNoMetadata(t *testing.T) {
	s := testenv.Redis(t, nil)
	b := open(t, connectGoredis(t, single(s)), nil)
	req := vote(uuidA+":1", 5, 0)
	req.Meta = `{"host":"web-7"}`
	mustAcquire(t, b, req)
	if info, err := b.(driver.Inspector).Inspect(ctxFor(t), "a"); err != nil || info.Holders[0].Meta != req.Meta {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestVoteWaitsForNoReplica though it has to.
func TestVoteWaitsForNoReplica(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, profile redislock.Profile) {
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), &redislock.Options{
			Profile: profile, Acks: 1, AckTimeout: 50 * time.Millisecond,
		})
		_, err := b.Acquire(ctxFor(t), vote(uuidA+":1", 5, 0))
		if missing, ok := errors.AsType[*redislock.AckError](err); !ok || missing.Need != 1 {
			t.Errorf("without a replica: %v", err)
		}
		if s.Do("EXISTS", "a") != int64(0) {
			t.Error("the grant was not taken back")
		}
		if _, err := b.Acquire(ctxFor(t), vote(uuidA+":1", 5, time.Hour)); !errors.Is(err, driver.ErrYoung) {
			t.Errorf("of a server that is too young: %v", err)
		}
	})
}
