package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// plainObject is what these scenes are of.
const plainObject = "RSemaphore"

// ofPlainSemaphore are the scenes with RSemaphore.
func ofPlainSemaphore() scenes {
	return scenes{
		"PlainPermitsAreShared":     plainPermitsAreShared,
		"GoMakesAPlainSemaphore":    goMakesAPlainSemaphore,
		"JavaMovesPlainPermits":     javaMovesPlainPermits,
		"GoIsWokenByAPlainPermit":   goIsWokenByAPlainPermit,
		"JavaIsWokenByAPlainPermit": javaIsWokenByAPlainPermit,
		"GoIsKilledWithPlain":       goIsKilledWithPlain,
		"JavaIsKilledWithPlain":     javaIsKilledWithPlain,
	}
}

// plain returns the permits of "a" as those of an RSemaphore.
func (e *together) plain(limit int, opts *lock.SemaphoreOptions) *lock.Semaphore {
	e.Helper()
	locks, err := plainClient(e.rdb)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = locks.Stop(context.Background()) })
	return locks.Semaphore("a", limit, opts)
}

func plainClient(rdb redis.UniversalClient) (*lock.Client, error) {
	return redislock.New(goredis.Wrap(rdb), &redislock.Options{Semaphores: redislock.RSemaphore})
}

// plainPermitsAreShared: each has what the other has left, and has back what the other gives back.
func plainPermitsAreShared(e *together) {
	defer e.shows(plainObject, excluded, 1)
	e.java.want("true", "a", "plain.set", "a", 3)
	s := e.plain(3, nil)
	e.java.want("true", "a", "plain.try", "a", 1)
	lease := e.take(s, time.Second)
	e.java.want("1", "a", "plain.there", "a", 0)
	e.refused(s.Permits(2))
	e.java.want("false", "a", "plain.try", "a", 2)
	e.java.want("true", "a", "plain.try", "a", 1)
	e.refused(s)
	e.java.want("true", "a", "plain.release", "a", 2)
	e.unlock(lease)
	e.java.want("3", "a", "plain.there", "a", 0)
	e.unlock(e.take(s.Permits(3), time.Second))
	e.java.want("true", "a", "plain.try", "a", 3)
	e.refused(s)
}

// goMakesAPlainSemaphore: who comes first says how many there are.
func goMakesAPlainSemaphore(e *together) {
	lease := e.take(e.plain(2, nil), time.Second)
	e.java.want("false", "a", "plain.set", "a", 9)
	e.java.want("1", "a", "plain.there", "a", 0)
	e.java.want("true", "a", "plain.try", "a", 1)
	e.unlock(lease)
	e.java.want("true", "a", "plain.release", "a", 1)
	e.java.want("2", "a", "plain.there", "a", 0)
}

// javaMovesPlainPermits: what it adds and drains stays so.
func javaMovesPlainPermits(e *together) {
	e.java.want("true", "a", "plain.set", "a", 2)
	s := e.plain(4, nil)
	lease := e.take(s, time.Second)
	e.refused(s.Permits(2))
	e.java.want("true", "a", "plain.add", "a", 1)
	e.unlock(e.take(s.Permits(2), time.Second))
	e.java.want("2", "a", "plain.drain", "a", 0)
	e.refused(s)
	e.unlock(lease)
	e.java.want("1", "a", "plain.there", "a", 0)
	e.java.want("true", "a", "plain.delete", "a", 0)
	e.unlock(e.take(s.Permits(4), time.Second))
	e.java.want("4", "a", "plain.there", "a", 0)
}

func goIsWokenByAPlainPermit(e *together) {
	e.java.want("true", "a", "plain.set", "a", 1)
	s := e.plain(1, nil)
	var took []time.Duration
	for range wakeUps {
		e.java.want("true", "a", "plain.try", "a", 1)
		before, got := e.scripts(), make(chan *lock.Lease, 1)
		go func() { got <- e.take(s, patience) }()
		e.listens(before, "redisson_sc:{a}")
		start := time.Now()
		e.java.want("true", "a", "plain.release", "a", 1)
		lease := <-got
		took = append(took, time.Since(start))
		e.unlock(lease)
	}
	e.woke(plainObject, goWaits, took)
}

func javaIsWokenByAPlainPermit(e *together) {
	e.java.want("true", "a", "plain.set", "a", 1)
	e.java.want("true", "a", "plain.wait", "a", 1000) // the server knows Java's script
	e.java.want("true", "a", "plain.release", "a", 1)
	s := e.plain(1, nil)
	var took []time.Duration
	for range wakeUps {
		lease := e.take(s, time.Second)
		var start time.Time
		e.javaWoken("plain.wait", "a", func() {
			start = time.Now()
			e.unlock(lease)
		})
		took = append(took, time.Since(start))
		e.java.want("true", "a", "plain.release", "a", 1)
	}
	e.woke(plainObject, javaWaits, took)
}

// holdsPlainAt has this program be another one, which has two plain permits of three on the server of that address
// until it is killed.
const holdsPlainAt = "BEDROCK_INTEROP_HOLDS_PLAIN_AT"

// holdPlainForEver is the program that is killed.
func holdPlainForEver(addr string) {
	locks, err := plainClient(redis.NewClient(&redis.Options{Addr: addr}))
	if err == nil {
		_, err = locks.Semaphore("a", 3, &lock.SemaphoreOptions{TTL: time.Second}).LockN(context.Background(), 2)
	}
	if err == nil {
		select {}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// goIsKilledWithPlain: what it had comes back by the next call of another one of Bedrock, and wakes Java.
func goIsKilledWithPlain(e *together) {
	defer e.shows(plainObject, goDies, 1)
	e.java.want("true", "a", "plain.set", "a", 3)
	program, err := os.Executable()
	if err != nil {
		e.Fatal(err)
	}
	dies := exec.CommandContext(e.Context(), program)
	dies.Env = append(os.Environ(), holdsPlainAt+"="+e.nodes[0].Addr())
	if err := dies.Start(); err != nil {
		e.Fatal(err)
	}
	for start := time.Now(); e.java.do("a", "plain.there", "a", 0) != "1"; {
		if time.Since(start) > patience {
			e.Fatal("the other one has no permits")
		}
	}
	e.java.want("true", "a", "plain.try", "a", 1)
	if err := dies.Process.Kill(); err != nil {
		e.Fatal(err)
	}
	_ = dies.Wait()
	waiting := e.java.begin("b", "plain.wait", "a", int(patience.Milliseconds()))
	e.unlock(e.take(e.plain(3, nil), patience)) // it waits as well, and looks when the dead one's time is over
	if answer := e.java.await(waiting); answer != "true" {
		e.Errorf("java waits for what the dead one had, and got %q", answer)
	}
	e.java.want("true", "a", "plain.release", "a", 2)
	e.java.want("3", "a", "plain.there", "a", 0)
}

// javaIsKilledWithPlain: what it had is lost, as it is without Bedrock, and who looks sees that it is missing.
func javaIsKilledWithPlain(e *together) {
	defer e.shows(plainObject, javaDies, 1)
	e.java.want("true", "a", "plain.set", "a", 3)
	s := e.plain(3, nil)
	lease := e.take(s, time.Second)
	e.java.want("true", "a", "plain.try", "a", 2)
	e.java.kill()
	ctx, cancel := context.WithTimeout(e.Context(), watchdog)
	defer cancel()
	if got, err := s.Lock(ctx); !errors.Is(err, lock.ErrHeld) && !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("after the death of Java there is %v, %v", got, err)
	}
	info, err := e.locks.Inspect(e.Context(), "a")
	if err != nil || info.Limit != 3 || len(info.Holders) != 2 || info.Holders[1].Permits+info.Holders[0].Permits != 3 {
		e.Errorf("inspected %+v, %v", info, err)
	}
	e.unlock(lease)
	e.refused(s.Permits(2))
	e.anotherJava().want("1", "a", "plain.there", "a", 0)
}
