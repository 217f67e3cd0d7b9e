package interop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// together is Bedrock and Redisson on one server.
type together struct {
	*testing.T
	server *testenv.RedisServer
	rdb    *redis.Client
	locks  *lock.Client
	jars   string
	java   *java
}

// watchdog is for how long Redisson's locks live unless renewed; Bedrock's live
// for 30 s, so that a wake-up cannot be mistaken for an expiry.
const watchdog = 3 * time.Second

// TestRedisson runs the oldest and the newest version of Redisson that Bedrock
// declares to share its locks with.
func TestRedisson(t *testing.T) {
	for _, version := range []string{"3.24.3", "4.7.0"} {
		t.Run(version, func(t *testing.T) {
			jars := redissonJars(t, version)
			for _, scenes := range []map[string]func(*together){
				ofMutex(), ofReadWrite(), ofSemaphore(), ofPlainSemaphore(), ofFair(), ofLatch(), ofMultiLock(),
			} {
				for name, test := range scenes {
					t.Run(name, func(t *testing.T) { test(bringTogether(t, jars)) })
				}
			}
		})
	}
}

func ofMutex() map[string]func(*together) {
	return map[string]func(*together){
		"JavaHolds":         javaHolds,
		"GoHolds":           goHolds,
		"GoIsWoken":         goIsWoken,
		"JavaIsWoken":       javaIsWoken,
		"JavaIsKilled":      javaIsKilled,
		"TokensRise":        tokensRise,
		"ForceReleaseTells": forceReleaseTells,
		"NobodyIsLost":      nobodyIsLost,
		"JavaIsPassedOver":  javaIsPassedOver,
		"BothKindsWait":     bothKindsWait,
	}
}

func bringTogether(t *testing.T, jars string) *together {
	t.Helper()
	server := testenv.Redis(t, nil)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	e := &together{t, server, rdb, nil, jars, nil}
	e.locks, e.java = e.client(rdb), e.anotherJava()
	return e
}

// client returns one of Bedrock. Java's fenced locks use the names too.
func (e *together) client(rdb *redis.Client) *lock.Client {
	e.Helper()
	locks, err := redislock.New(goredis.Wrap(rdb), &redislock.Options{TokenTTL: -1})
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // its process may be dead
		defer cancel()
		_ = locks.Stop(ctx)
	})
	return locks
}

func (e *together) anotherJava() *java {
	e.Helper()
	return startJava(e.T, e.jars, e.server, watchdog)
}

// lock takes the lock for Go within d.
func (e *together) lock(name string, d time.Duration) *lock.Lease {
	e.Helper()
	lease, err := e.locks.Mutex(name, &lock.MutexOptions{Wait: d}).Lock(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return lease
}

func (e *together) unlock(lease *lock.Lease) {
	e.Helper()
	if err := lease.Unlock(e.Context()); err != nil {
		e.Error(err)
	}
}

// scripts returns how many scripts the server has run.
func (e *together) scripts() (n int) {
	e.Helper()
	stats, err := e.rdb.Info(e.Context(), "commandstats").Result()
	if err != nil {
		e.Fatal(err)
	}
	for _, command := range []string{"eval", "evalsha"} {
		_, after, _ := strings.Cut(stats, "cmdstat_"+command+":calls=")
		calls, _, _ := strings.Cut(after, ",")
		if count, err := strconv.Atoi(calls); err == nil {
			n += count
		}
	}
	return n
}

// asleep waits until a contender that began after the server had run so many
// scripts has been refused, has subscribed, and has been refused once more:
// nothing but a message wakes it now before the lock expires.
func (e *together) asleep(before int) {
	e.Helper()
	for deadline := time.Now().Add(patience); e.scripts() < before+2; {
		if time.Now().After(deadline) {
			e.Fatal("the contender has not asked twice")
		}
	}
}

func javaHolds(e *together) {
	e.java.want("true", "a", "try", "orders/42", 0)
	_, err := e.locks.Mutex("orders/42", nil).TryLock(e.Context())
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok || held.Owner == "" || time.Until(held.Until) > watchdog {
		e.Errorf("got %v", err)
	}
	info, err := e.locks.Inspect(e.Context(), "orders/42")
	if err != nil || len(info.Holders) != 1 || info.Holders[0].Owner != held.Owner {
		e.Errorf("inspected %+v, %v", info, err)
	}
	e.java.want("true", "a", "unlock", "orders/42", 0)
	e.unlock(e.lock("orders/42", time.Second))
}

func goHolds(e *together) {
	lease := e.lock("orders/42", time.Second)
	e.java.want("false", "a", "try", "orders/42", 0)
	e.java.want("true", "a", "locked", "orders/42", 0)
	if answer := e.java.do("a", "unlock", "orders/42", 0); answer == "true" {
		e.Error("java released what go holds")
	}
	e.unlock(lease)
	e.java.want("false", "a", "locked", "orders/42", 0)
	e.java.want("true", "a", "try", "orders/42", 0)
}

// goIsWoken: Java renews its lock for longer than it lives by itself, and then
// releases it.
func goIsWoken(e *together) {
	e.java.want("true", "a", "try", "a", 0)
	before, got := e.scripts(), make(chan error, 1)
	go func() {
		lease, err := e.locks.Mutex("a", nil).Lock(e.Context())
		if err == nil {
			err = lease.Unlock(e.Context())
		}
		got <- err
	}()
	e.asleep(before)
	start := time.Now()
	e.java.want("true", "a", "unlock", "a", 0)
	if err := <-got; err != nil || time.Since(start) > watchdog/2 {
		e.Errorf("not woken before the lock would have expired, but after %s: %v", time.Since(start), err)
	}
}

func javaIsWoken(e *together) {
	e.java.want("true", "b", "try", "b", 0) // the server knows Java's script from here on
	lease := e.lock("a", time.Second)
	before := e.scripts()
	waiting := e.java.begin("a", "try", "a", int(patience.Milliseconds()))
	e.asleep(before)
	e.unlock(lease) // it would live for 30 s
	start := time.Now()
	if answer := e.java.await(waiting); answer != "true" || time.Since(start) > 5*time.Second {
		e.Errorf("java got %q after %s", answer, time.Since(start))
	}
}

func javaIsKilled(e *together) {
	e.java.want("true", "a", "try", "a", 0)
	e.java.kill()
	e.unlock(e.lock("a", watchdog+2*time.Second))
}

// tokensRise: Java's fenced lock and Bedrock count with one counter.
func tokensRise(e *together) {
	last := uint64(0)
	for range 3 {
		lease := e.lock("a", time.Second)
		if lease.Token() <= last {
			e.Errorf("go's token %d after %d", lease.Token(), last)
		}
		last = lease.Token()
		e.unlock(lease)
		answer := e.java.do("a", "fenced", "a", 0)
		token, err := strconv.ParseUint(answer, 10, 64)
		if err != nil || token <= last {
			e.Errorf("java's token %s after %d (%v)", answer, last, err)
		}
		last = token
		e.java.want("true", "a", "unlock", "a", 0)
	}
}

func forceReleaseTells(e *together) {
	e.java.want("true", "a", "try", "a", 0)
	if held, err := e.locks.ForceRelease(e.Context(), "a"); !held || err != nil {
		e.Errorf("force: %v, %v", held, err)
	}
	if answer := e.java.do("a", "unlock", "a", 0); answer == "true" {
		e.Error("java released what it had not any more")
	}
}

// nobodyIsLost: threads and goroutines count together; a lock held by two would
// lose counts.
func nobodyIsLost(e *together) {
	const each, times = 4, 50
	if err := e.rdb.Set(e.Context(), "counter", 0, 0).Err(); err != nil {
		e.Fatal(err)
	}
	var ids []string
	for i := range each {
		ids = append(ids, e.java.begin(fmt.Sprint("t", i), "count", "a", times))
	}
	var group sync.WaitGroup
	for range each {
		group.Go(func() { e.count(times) })
	}
	group.Wait()
	for _, id := range ids {
		if answer := e.java.await(id); answer != strconv.Itoa(times) {
			e.Errorf("java counted %q", answer)
		}
	}
	if n, err := e.rdb.Get(e.Context(), "counter").Int(); n != 2*each*times || err != nil {
		e.Errorf("counted %d of %d (%v)", n, 2*each*times, err)
	}
}

// count does what the peer's command of that name does.
func (e *together) count(times int) {
	for range times {
		err := lock.Do(e.Context(), e.locks.Mutex("a", nil), func(ctx context.Context, _ *lock.Lease) error {
			n, err := e.rdb.Get(ctx, "counter").Int()
			if err != nil {
				return err
			}
			return e.rdb.Set(ctx, "counter", n+1, 0).Err()
		}, nil)
		if err != nil {
			e.Error(err)
			return
		}
	}
}
