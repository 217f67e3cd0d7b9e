package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/interop/internal/matrix"
	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// ofLatch are the scenes with RCountDownLatch.
func ofLatch() scenes {
	return scenes{
		"LatchIsShared":       latchIsShared,
		"LatchGoIsWoken":      latchGoIsWoken,
		"LatchJavaIsWoken":    latchJavaIsWoken,
		"LatchIsDropped":      latchIsDropped,
		"LatchJavaIsKilled":   latchJavaIsKilled,
		"LatchGoIsKilled":     latchGoIsKilled,
		"LatchAndLocksOfJava": latchAndLocksOfJava,
	}
}

// latchObject is the matrix' row of latches.
const latchObject = "RCountDownLatch"

// latches are Go's latches, below package lock.
type latches struct {
	*together
	driver.Backend
	driver.Latches
	driver.Waiter

	calls int
}

func (e *together) latches() *latches {
	e.Helper()
	b, err := redislock.NewBackend(goredis.Wrap(e.rdb), e.options())
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = b.Close() })
	return &latches{together: e, Backend: b, Latches: b.(driver.Latches), Waiter: b.(driver.Waiter)}
}

// id returns one for the next call.
func (l *latches) id() string {
	l.calls++
	return fmt.Sprint("call ", l.calls)
}

// set sets a latch that is free.
func (l *latches) set(name string, count int) {
	l.Helper()
	if set, err := l.SetLatch(l.Context(), name, l.id(), count); !set || err != nil {
		l.Fatalf("set %q: %t, %v", name, set, err)
	}
}

// down counts a latch down by one.
func (l *latches) down(name string, want int) {
	l.Helper()
	if left, err := l.CountDown(l.Context(), name, l.id(), 1); left != want || err != nil {
		l.Errorf("count %q down: %d are left, want %d (%v)", name, left, want, err)
	}
}

// wantCount checks what is left of a latch, from both sides.
func (l *latches) wantCount(name string, want int) {
	l.Helper()
	if left, err := l.LatchCount(l.Context(), name); left != want || err != nil {
		l.Errorf("%q: %d are left, want %d (%v)", name, left, want, err)
	}
	l.java.Want(strconv.Itoa(want), "count", "latch.count", name, 0)
}

// await waits until a latch is open, as package lock does.
func (l *latches) await(name string, listening chan<- struct{}) error {
	w, err := l.Watch(l.Context(), name, driver.Latch)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		left, err := l.LatchCount(l.Context(), name)
		if left == 0 || err != nil {
			return err
		}
		if listening != nil {
			close(listening)
			listening = nil
		}
		select {
		case <-w.C():
		case <-time.After(peer.Patience / 3):
			return fmt.Errorf("%d are left, and nothing was heard", left)
		}
	}
}

// goWoken checks that Go is woken when a latch opens, and returns how long that took.
func (l *latches) goWoken(name string, opens func()) time.Duration {
	l.Helper()
	listening, woken := make(chan struct{}), make(chan error, 1)
	go func() { woken <- l.await(name, listening) }()
	select {
	case <-listening:
	case err := <-woken:
		l.Fatalf("go does not wait: %v", err)
	}
	start := time.Now()
	opens()
	if err := <-woken; err != nil {
		l.Fatal(err)
	}
	return time.Since(start)
}

// javaWoken checks that Java is woken when a latch opens, and returns how long that took.
func (l *latches) javaWoken(java *peer.Java, name string, opens func()) time.Duration {
	l.Helper()
	channel, before := "redisson_countdownlatch__channel__{"+name+"}", l.commands("get")
	waiting := java.Begin("waiting", "latch.await", name, int(peer.Patience.Milliseconds()))
	deadline := time.Now().Add(peer.Patience)
	// It looks at the count before it listens, and after.
	for l.listening(channel) == 0 || l.commands("get") < before+2 {
		if time.Now().After(deadline) {
			l.Fatal("java does not listen")
		}
	}
	start := time.Now()
	opens()
	java.AnswersWithin(atOnce, waiting)
	return time.Since(start)
}

// latchIsShared: both set, count and see one latch.
func latchIsShared(e *together) {
	l := e.latches()
	names := []string{"a", "{t}/a", "{x}"}
	if e.isCluster() {
		names = names[:1] // Redisson puts braces around names that have some: its channel is in another slot then
	}
	defer e.shows(latchObject, matrix.InspectedByGo, 1)
	defer e.shows(latchObject, matrix.InspectedByJava, 1)
	for _, name := range names {
		l.wantCount(name, 0)
		l.set(name, 3)
		e.java.Want("false", "a", "latch.set", name, 5)
		l.wantCount(name, 3)
		e.java.Want("true", "a", "latch.down", name, 1)
		l.wantCount(name, 2)
		l.down(name, 1)
		e.java.Want("true", "a", "latch.down", name, 1)
		l.wantCount(name, 0)
		e.java.Want("true", "a", "latch.set", name, 2)
		if set, err := l.SetLatch(e.Context(), name, l.id(), 5); set || err != nil {
			e.Errorf("go sets what java has set: %t, %v", set, err)
		}
		l.down(name, 1)
		l.wantCount(name, 1)
		l.down(name, 0)
		l.wantCount(name, 0)
	}
}

func latchGoIsWoken(e *together) {
	l := e.latches()
	var took []time.Duration
	for i := range wakeUps {
		name := fmt.Sprint("woken", i%3) // names are used again
		e.java.Want("true", "a", "latch.set", name, 2)
		took = append(took, l.goWoken(name, func() { e.java.Want("true", "a", "latch.down", name, 2) }))
	}
	e.woke(latchObject, matrix.GoWaits, took)
}

func latchJavaIsWoken(e *together) {
	l := e.latches()
	var took []time.Duration
	for i := range wakeUps {
		name := fmt.Sprint("wakes", i%3)
		l.set(name, 2)
		took = append(took, l.javaWoken(e.java, name, func() {
			l.down(name, 1)
			l.down(name, 0)
		}))
	}
	e.woke(latchObject, matrix.JavaWaits, took)
}

// latchIsDropped by Go: those who await it in Java are woken.
func latchIsDropped(e *together) {
	l := e.latches()
	for range wakeUps {
		l.set("a", 2)
		l.javaWoken(e.java, "a", func() {
			if was, err := l.DropLatch(e.Context(), "a"); !was || err != nil {
				e.Errorf("dropped: %t, %v", was, err)
			}
		})
		e.java.Want("true", "a", "latch.set", "a", 2)
		l.goWoken("a", func() { e.java.Want("true", "a", "latch.drop", "a", 0) })
	}
}

const manyCounts = 1 << 20

// latchJavaIsKilled while it counts: what it has counted stays, and nothing else is.
func latchJavaIsKilled(e *together) {
	l := e.latches()
	l.set("a", manyCounts)
	dies := e.anotherJava()
	dies.Begin("a", "latch.down", "a", manyCounts)
	l.untilBelow("a", manyCounts)
	l.countsBeside()
	dies.Kill()
	l.opensAfterADeath()
	e.shows(latchObject, matrix.JavaDies, 1)
}

// latchGoIsKilled the same way.
func latchGoIsKilled(e *together) {
	l := e.latches()
	l.set("a", manyCounts)
	program, err := os.Executable()
	if err != nil {
		e.Fatal(err)
	}
	dies := exec.CommandContext(e.Context(), program)
	dies.Env = append(os.Environ(), countsAt+"="+e.addresses(""))
	if err := dies.Start(); err != nil {
		e.Fatal(err)
	}
	l.untilBelow("a", manyCounts)
	l.countsBeside()
	if err := dies.Process.Kill(); err != nil {
		e.Fatal(err)
	}
	_ = dies.Wait()
	l.opensAfterADeath()
	e.shows(latchObject, matrix.GoDies, 1)
}

// untilBelow waits until a latch is counted down.
func (l *latches) untilBelow(name string, count int) {
	l.Helper()
	for deadline := time.Now().Add(peer.Patience); ; {
		left, err := l.LatchCount(l.Context(), name)
		if err != nil {
			l.Fatal(err)
		}
		if left < count {
			return
		}
		if time.Now().After(deadline) {
			l.Fatal("nobody counts")
		}
	}
}

// countsBeside counts from both sides while another one does.
func (l *latches) countsBeside() {
	l.Helper()
	for range 20 {
		if _, err := l.CountDown(l.Context(), "a", l.id(), 1); err != nil {
			l.Error(err)
		}
		l.java.Want("true", "a", "latch.down", "a", 1)
	}
}

// opensAfterADeath checks that both count on from where it is, and that the latch opens for both.
func (l *latches) opensAfterADeath() {
	l.Helper()
	left, err := l.LatchCount(l.Context(), "a")
	if err != nil || left <= 50 {
		l.Fatalf("%d are left (%v)", left, err)
	}
	l.down("a", left-1)
	l.java.Want("true", "a", "latch.down", "a", 1)
	l.wantCount("a", left-2)
	if _, err := l.CountDown(l.Context(), "a", l.id(), left-3); err != nil {
		l.Error(err)
	}
	l.goWoken("a", func() {
		l.javaWoken(l.java, "a", func() { l.down("a", 0) })
	})
}

// countForEver is the program that is killed.
func countForEver(addr string) {
	b, err := redislock.NewBackend(goredis.Wrap(redis.NewClient(&redis.Options{Addr: addr})), nil)
	for i := 0; err == nil; i++ {
		_, err = b.(driver.Latches).CountDown(context.Background(), "a", fmt.Sprint("dies ", i), 1)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// latchAndLocksOfJava are told apart; Java's latch and its semaphore of which nobody has permits cannot be.
func latchAndLocksOfJava(e *together) {
	l := e.latches()
	e.java.Want("true", "a", "try", "m", 0)
	e.java.Want("true", "a", "rw.read", "rw", 0)
	e.java.Want("true", "a", "permit.set", "s", 2)
	id := e.java.Do("a", "permit.take", "s", 0)
	for name, found := range map[string]driver.Kind{
		"m": driver.Mutex, "rw": driver.ReadWrite, "s": driver.Semaphore,
	} {
		_, set := l.SetLatch(e.Context(), name, l.id(), 1)
		wantKind(e, found, driver.Latch, set)
		_, down := l.CountDown(e.Context(), name, l.id(), 1)
		wantKind(e, found, driver.Latch, down)
	}
	e.java.Want("true", "a", "unlock", "m", 0)
	e.java.Want("true", "a", "rw.unread", "rw", 0)
	e.java.Want("true", "a", "permit.release", "s", id)
	e.java.Want("2", "a", "permit.there", "s", 0)
	l.set("latch", 3)
	_, mutex := e.locks.Mutex("latch", nil).TryLock(e.Context())
	wantKind(e, driver.Latch, driver.Mutex, mutex)
	_, semaphore := e.locks.Semaphore("latch", 3, nil).TryLock(e.Context())
	wantKind(e, driver.Latch, driver.Semaphore, semaphore)
	l.wantCount("latch", 3)
}

// wantKind checks that a name was refused by its kind.
func wantKind(e *together, found, wanted driver.Kind, err error) {
	e.Helper()
	told, ok := errors.AsType[*driver.KindError](err)
	if !ok || told.Found != found || told.Wanted != wanted {
		e.Errorf("a %s is used as a %s: %v", found, wanted, err)
	}
}
