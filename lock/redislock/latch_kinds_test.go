package redislock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestLatchAndLockShareAName: whichever is there first refuses the other by its kind, and nothing is changed.
func TestLatchAndLockShareAName(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		latches := b.(driver.Latches)
		for _, suffix := range []string{"", "{t}"} {
			setLatch(t, b, "latch"+suffix, 3)
			before := server.Do("DUMP", "latch"+suffix)
			for name, req := range annotated() {
				req.Name = "latch" + suffix
				_, err := b.Acquire(ctxFor(t), req)
				told, ok := errors.AsType[*driver.KindError](err)
				if !ok || told.Found != driver.Latch || told.Wanted != req.Mode.Kind() {
					t.Errorf("a latch is asked for as %q: %v", name, err)
				}
			}
			vote := request("latch"+suffix, uuidA+":9")
			vote.Above = 1
			if _, err := b.Acquire(ctxFor(t), vote); !errors.Is(err, driver.ErrKind) {
				t.Errorf("a latch is asked for a vote: %v", err)
			}
			_, err := b.(driver.Bundler).AcquireAll(ctxFor(t), requests(uuidA+":9", "free"+suffix, "latch"+suffix))
			if told, ok := errors.AsType[*driver.KindError](err); !ok || told.Found != driver.Latch {
				t.Errorf("a latch among several: %v", err)
			}
			if after := server.Do("DUMP", "latch"+suffix); after != before {
				t.Errorf("the latch is changed: %v", after)
			}
			for name, req := range annotated() {
				req.Name = "lock" + suffix
				g := mustAcquire(t, b, req)
				state := withoutCalls(server)
				refusals := []error{nil, nil, nil, nil}
				_, refusals[0] = latches.SetLatch(ctxFor(t), req.Name, "set "+name, 1)
				_, refusals[1] = latches.CountDown(ctxFor(t), req.Name, "down "+name, 1)
				_, refusals[2] = latches.LatchCount(ctxFor(t), req.Name)
				_, refusals[3] = latches.DropLatch(ctxFor(t), req.Name)
				for i, err := range refusals {
					told, ok := errors.AsType[*driver.KindError](err)
					if !ok || told.Wanted != driver.Latch || told.Found != req.Mode.Kind() {
						t.Errorf("%q is used as a latch in way %d: %v", name, i, err)
					}
				}
				if diff := cmp.Diff(state, withoutCalls(server)); diff != "" {
					t.Errorf("%q is changed (-before +after):\n%s", name, diff)
				}
				mustRelease(t, b, g)
				server.Do("DEL", "lock"+suffix) // of the semaphore that is remembered
			}
		}
	})
}

// withoutCalls are the contents of a server but for what calls were answered.
func withoutCalls(s *testenv.RedisServer) map[string]string {
	all := contents(s)
	for key := range all {
		if strings.HasPrefix(key, "bedrock_latch:call:") {
			delete(all, key)
		}
	}
	return all
}

// TestLatchAfterASemaphore that is only remembered; and a semaphore after a latch that Redisson has opened.
func TestLatchAfterASemaphore(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		sem := annotated()["permits"]
		mustRelease(t, b, mustAcquire(t, b, sem))
		wantCount(t, b, sem.Name, 0)
		setLatch(t, b, sem.Name, 2)
		wantCount(t, b, sem.Name, 2)
		server.Do("DEL", sem.Name) // as Redisson does at zero
		again := sem
		again.Owner = uuidB + ":1"
		mustAcquire(t, b, again)
		again.Owner, again.Permits = uuidB+":2", 1
		mustAcquire(t, b, again)
		if _, err := b.(driver.Latches).LatchCount(ctxFor(t), sem.Name); !errors.Is(err, driver.ErrKind) {
			t.Errorf("a semaphore is a latch: %v", err)
		}
	})
}

// TestLatchOfRedisson has no mark: a number that is not known to be a semaphore is a latch.
func TestLatchOfRedisson(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, connect(t, single(server)), nil)
		latches := b.(driver.Latches)
		server.Do("SET", "a", "2")
		wantCount(t, b, "a", 2)
		if set, err := latches.SetLatch(ctxFor(t), "a", "set", 5); set || err != nil {
			t.Errorf("set: %t, %v", set, err)
		}
		countDown(t, b, "a", "one", 1, 1)
		countDown(t, b, "a", "two", 1, 0)
		if left := ofLatches(server); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		setLatch(t, b, "b", 2)
		server.Do("DEL", "b") // as Redisson does at zero
		wantCount(t, b, "b", 0)
		if left := ofLatches(server); len(left) > 0 {
			t.Errorf("the mark is left: %q", left)
		}
		setLatch(t, b, "c", 2)
		server.Do("SET", "c", "3") // Redisson has opened it, and made a semaphore
		server.Do("ZADD", "{c}:timeout", "99999999999999", "0123456789abcdef")
		if _, err := latches.LatchCount(ctxFor(t), "c"); !errors.Is(err, driver.ErrKind) {
			t.Errorf("Redisson's semaphore is a latch: %v", err)
		}
		sem := annotated()["permits"]
		sem.Name, sem.Limit = "c", 4
		mustAcquire(t, b, sem)
	})
}

// TestLatchAfterTheDead: a semaphore that is only remembered has permits of the dead, which have not come back yet.
// They are no part of the latch that is set.
func TestLatchAfterTheDead(t *testing.T) {
	for _, kept := range []redislock.Semaphores{redislock.RPermitExpirableSemaphore, redislock.RSemaphore} {
		each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
			server := testenv.Redis(t, nil)
			b := open(t, connect(t, single(server)), &redislock.Options{Semaphores: kept})
			dead := permitsOf("a", 1, 2)
			dead.TTL = time.Millisecond
			g := mustAcquire(t, b, dead)
			until(t, "the semaphore to be only remembered", func() bool {
				_, err := b.(driver.Latches).LatchCount(ctxFor(t), "a")
				return err == nil
			})
			setLatch(t, b, "a", 3)
			if errs := b.Renew(ctxFor(t), []driver.Grant{g}); !errors.Is(errs[0], driver.ErrLost) {
				t.Errorf("renewed: %v", errs[0])
			}
			wantCount(t, b, "a", 3)
			countDown(t, b, "a", "all", 3, 0)
			mustAcquire(t, b, request("a", uuidB+":1"))
		})
	}
}
