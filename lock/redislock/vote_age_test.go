package redislock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// tooYoung checks that a server is too young for a request, which leaves nothing behind.
func tooYoung(t *testing.T, s *testenv.RedisServer, b driver.Backend, req driver.Request) {
	t.Helper()
	_, err := b.Acquire(ctxFor(t), req)
	if !errors.Is(err, driver.ErrYoung) || !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrRefused) {
		t.Errorf("a server younger than %s: %v", req.Age, err)
	}
	if s.Do("EXISTS", "a") != int64(0) {
		t.Error("there is a lock")
	}
}

// becomesOldEnough asks until the server is old enough.
func becomesOldEnough(t *testing.T, b driver.Backend, req driver.Request) driver.Grant {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx := ctxFor(t); ; <-tick.C {
		g, err := b.Acquire(ctx, req)
		if err == nil {
			return g
		}
		if !errors.Is(err, driver.ErrYoung) {
			t.Fatalf("while the server grows old: %v", err)
		}
	}
}

// TestServerThatHasForgottenVotes grants what it may have granted before.
func TestServerThatHasForgottenVotes(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, profile redislock.Profile) {
		started := time.Now()
		s := testenv.Redis(t, nil)
		b := open(t, connect(t, single(s)), &redislock.Options{Profile: profile})
		req := vote(uuidA+":1", 5, 1500*time.Millisecond)
		tooYoung(t, s, b, req)
		g := becomesOldEnough(t, b, req)
		if took := time.Since(started); took < req.Age {
			t.Errorf("granted %s after the start", took)
		}
		mustRelease(t, b, g)
		s.Do("SAVE") // it has saved its data just now, and is as old as before
		saved := time.Now()
		g = becomesOldEnough(t, b, vote(uuidA+":2", 5, req.Age))
		if took := time.Since(saved); took > req.Age {
			t.Errorf("it counts from the time when it has saved its data: granted after %s", took)
		}

		s.Restart(false)
		started = time.Now().Add(-time.Second) // whole seconds are told
		b = open(t, connect(t, single(s)), &redislock.Options{Profile: profile})
		tooYoung(t, s, b, vote(uuidA+":3", g.Token, time.Minute))
		if next := becomesOldEnough(t, b, vote(uuidA+":3", g.Token, time.Second)); next.Token <= g.Token {
			t.Errorf("token %d after %d", next.Token, g.Token)
		}
		if time.Since(started) < time.Second {
			t.Error("granted at once")
		}
	})
}

// TestYoungServerHidesWhatItKnows: who is held is held, and whose it is has it, however young the server.
func TestYoungServerHidesWhatItKnows(t *testing.T) {
	eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, profile redislock.Profile) {
		s := testenv.Redis(t, &testenv.RedisOptions{Persistence: testenv.PersistLog})
		b := open(t, connect(t, single(s)), &redislock.Options{Profile: profile})
		g := mustAcquire(t, b, vote(uuidA+":1", 5, 0))
		s.Restart(true)
		b = open(t, connect(t, single(s)), &redislock.Options{Profile: profile})
		_, err := b.Acquire(ctxFor(t), vote(uuidB+":1", 5, time.Hour))
		if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.Owner != g.Owner {
			t.Errorf("somebody else: %v", err)
		}
		again := mustAcquire(t, b, vote(uuidA+":1", 5, time.Hour))
		if again.Token < g.Token || again.Token > g.Token+2 {
			t.Errorf("token %d again, it was %d", again.Token, g.Token)
		}
		mustRelease(t, b, g)
		tooYoung(t, s, b, vote(uuidB+":1", 5, time.Hour))
	})
}

// TestUserWhoMayNotKnowTheAgeIsRefused only if there is no other way to know it.
func TestUserWhoMayNotKnowTheAgeIsRefused(t *testing.T) {
	for forbidden, refused := range map[string]bool{"-lastsave": false, "-info": false, "-lastsave -info": true} {
		t.Run(forbidden, func(t *testing.T) {
			eachProfile(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn, p redislock.Profile) {
				rules := "locker on >secret ~* &* +@all " + forbidden
				s := testenv.Redis(t, &testenv.RedisOptions{Users: []string{rules}})
				to := single(s)
				to.user, to.pass = "locker", "secret"
				b := open(t, connect(t, to), &redislock.Options{Profile: p})
				if !refused {
					tooYoung(t, s, b, vote(uuidA+":1", 5, time.Hour))
					mustRelease(t, b, becomesOldEnough(t, b, vote(uuidA+":1", 5, time.Millisecond)))
					return
				}
				_, err := b.Acquire(ctxFor(t), vote(uuidA+":1", 5, time.Millisecond))
				if !errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrYoung) ||
					!strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), "lastsave or info") {
					t.Errorf("%v", err)
				}
				if left := s.Do("DBSIZE"); left != int64(0) {
					t.Errorf("%v keys are left", left)
				}
				mustRelease(t, b, mustAcquire(t, b, vote(uuidA+":1", 5, 0)))
			})
		})
	}
}

// TestVoteRefusedHalfWayLeavesALock of which nobody was told.
func TestVoteRefusedHalfWayLeavesALock(t *testing.T) {
	s := testenv.Redis(t, nil)
	conn := connectGoredis(t, single(s))
	for profile, commands := range map[redislock.Profile][]string{
		redislock.Redisson: {"exists", "time", "get", "set", "hset", "pexpire"},
		redislock.Redlock:  {"time", "get", "set"},
	} {
		b := open(t, conn, &redislock.Options{Profile: profile})
		for _, command := range commands {
			s.Do("ACL", "SETUSER", "default", "-"+command)
			_, err := b.Acquire(ctxFor(t), vote(uuidA+":1", 5, 0))
			s.Do("ACL", "SETUSER", "default", "+@all")
			if !errors.Is(err, driver.ErrRefused) || s.Do("EXISTS", "a") != int64(0) {
				t.Errorf("without %s: %v, and %v locks", command, err, s.Do("EXISTS", "a"))
			}
			s.Do("FLUSHALL")
		}
	}
}
