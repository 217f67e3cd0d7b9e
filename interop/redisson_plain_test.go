package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// plainObject is the matrix' row of plain semaphores.
const plainObject = "RSemaphore"

// ofPlainSemaphore are the scenes with RSemaphore.
func ofPlainSemaphore() scenes {
	return scenes{
		"PlainPermitsAreShared":  plainPermitsAreShared,
		"GoMakesAPlainSemaphore": goMakesAPlainSemaphore,
		"JavaMovesPlainPermits":  javaMovesPlainPermits,
		"GoIsKilledWithPlain":    goIsKilledWithPlain,
		"JavaIsKilledWithPlain":  javaIsKilledWithPlain,
	}
}

// plain returns the permits of "a" as those of an RSemaphore.
func (e *together) plain(limit int, opts *lock.SemaphoreOptions) *lock.Semaphore {
	e.Helper()
	return e.plainLocks().Semaphore("a", limit, opts)
}

// plainLocks returns a client whose semaphores are numbers.
func (e *together) plainLocks() *lock.Client {
	e.Helper()
	locks, err := plainClient(e.rdb, e.goPublishes)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = locks.Stop(context.Background()) })
	return locks
}

func plainClient(rdb redis.UniversalClient, publishes redislock.PubSub) (*lock.Client, error) {
	opts := &redislock.Options{Semaphores: redislock.RSemaphore, PubSub: publishes}
	return redislock.New(goredis.Wrap(rdb), opts)
}

// plainPermitsAreShared: each has what the other has left, and has back what the other gives back.
func plainPermitsAreShared(e *together) {
	e.java.Want("true", "a", "plain.set", "a", 3)
	s := e.plain(3, nil)
	e.java.Want("true", "a", "plain.try", "a", 1)
	lease := e.take(s, time.Second)
	e.java.Want("1", "a", "plain.there", "a", 0)
	e.refused(s.Permits(2))
	e.java.Want("false", "a", "plain.try", "a", 2)
	e.java.Want("true", "a", "plain.try", "a", 1)
	e.refused(s)
	e.java.Want("true", "a", "plain.release", "a", 2)
	e.unlock(lease)
	e.java.Want("3", "a", "plain.there", "a", 0)
	e.unlock(e.take(s.Permits(3), time.Second))
	e.java.Want("true", "a", "plain.try", "a", 3)
	e.refused(s)
	e.shows(plainObject, matrix.InspectedByJava, 1)
}

// goMakesAPlainSemaphore: who comes first says how many there are.
func goMakesAPlainSemaphore(e *together) {
	lease := e.take(e.plain(2, nil), time.Second)
	e.java.Want("false", "a", "plain.set", "a", 9)
	e.java.Want("1", "a", "plain.there", "a", 0)
	e.java.Want("true", "a", "plain.try", "a", 1)
	e.unlock(lease)
	e.java.Want("true", "a", "plain.release", "a", 1)
	e.java.Want("2", "a", "plain.there", "a", 0)
}

// javaMovesPlainPermits: what it adds and drains stays so.
func javaMovesPlainPermits(e *together) {
	e.java.Want("true", "a", "plain.set", "a", 2)
	s := e.plain(4, nil)
	lease := e.take(s, time.Second)
	e.refused(s.Permits(2))
	e.java.Want("true", "a", "plain.add", "a", 1)
	e.unlock(e.take(s.Permits(2), time.Second))
	e.java.Want("2", "a", "plain.drain", "a", 0)
	e.refused(s)
	e.unlock(lease)
	e.java.Want("1", "a", "plain.there", "a", 0)
	e.java.Want("true", "a", "plain.delete", "a", 0)
	e.unlock(e.take(s.Permits(4), time.Second))
	e.java.Want("4", "a", "plain.there", "a", 0)
}

// holdsAt has this program be another one, which has two plain permits of three on the server of that address until it
// is killed.
const holdsAt = "BEDROCK_INTEROP_HOLDS_AT"

// holdForEver is the program that is killed.
func holdForEver(addr string) {
	locks, err := plainClient(redis.NewClient(&redis.Options{Addr: addr}), redislock.PubSubAuto)
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
	e.java.Want("true", "a", "plain.set", "a", 3)
	program, err := os.Executable()
	if err != nil {
		e.Fatal(err)
	}
	dies := exec.CommandContext(e.Context(), program)
	dies.Env = append(os.Environ(), holdsAt+"="+e.addresses(""))
	if err := dies.Start(); err != nil {
		e.Fatal(err)
	}
	for start := time.Now(); e.java.Do("a", "plain.there", "a", 0) != "1"; {
		if time.Since(start) > peer.Patience {
			e.Fatal("the other one has no permits")
		}
	}
	e.java.Want("true", "a", "plain.try", "a", 1)
	if err := dies.Process.Kill(); err != nil {
		e.Fatal(err)
	}
	_ = dies.Wait()
	waiting := e.java.Begin("b", "plain.wait", "a", int(peer.Patience.Milliseconds()))
	e.unlock(e.take(e.plain(3, nil), peer.Patience)) // it waits as well, and looks when the dead one's time is over
	if answer := e.java.Await(waiting); answer != "true" {
		e.Errorf("java waits for what the dead one had, and got %q", answer)
	}
	e.java.Want("true", "a", "plain.release", "a", 2)
	e.java.Want("3", "a", "plain.there", "a", 0)
	e.shows(plainObject, matrix.GoDies, 1)
}

// javaIsKilledWithPlain: what it had is lost, as it is without Bedrock, and who looks sees that it is missing.
func javaIsKilledWithPlain(e *together) {
	e.java.Want("true", "a", "plain.set", "a", 3)
	s := e.plain(3, nil)
	lease := e.take(s, time.Second)
	e.java.Want("true", "a", "plain.try", "a", 2)
	e.java.Kill()
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
	e.anotherJava().Want("1", "a", "plain.there", "a", 0)
	e.shows(plainObject, matrix.InspectedByGo, 1)
}
