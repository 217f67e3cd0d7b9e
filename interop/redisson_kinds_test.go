package interop

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/interop/internal/peer"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// ofReadWrite are the scenes with RReadWriteLock.
func ofReadWrite() scenes {
	return scenes{
		"JavaReads":               javaReads,
		"GoReads":                 goReads,
		"JavaWrites":              javaWrites,
		"GoWrites":                goWrites,
		"JavaReadersAreWoken":     javaReadersAreWoken,
		"JavaReaderIsKilled":      javaReaderIsKilled,
		"GoDowngradesBesideJava":  goDowngradesBesideJava,
		"GoUpgradesBesideJava":    goUpgradesBesideJava,
		"GoPassesOnToItsReaders":  goPassesOnToItsReaders,
		"JavaDowngradesBesideGo":  javaDowngradesBesideGo,
		"JavaHasAnotherKind":      javaHasAnotherKind,
		"GoHoldsBesideAJavaOther": goReaderOutlivesJava,
	}
}

// ofSemaphore are the scenes with RPermitExpirableSemaphore.
func ofSemaphore() scenes {
	return scenes{
		"PermitsAreShared":         permitsAreShared,
		"JavaDiesWithAPermit":      javaDiesWithAPermit,
		"PermitsOfTheGoDeadReturn": permitsOfTheGoDeadReturn,
	}
}

// take takes a lock of any kind for Go within d.
func (e *together) take(l lock.Lockable, d time.Duration) *lock.Lease {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), d)
	e.Cleanup(cancel)
	lease, err := l.Lock(ctx)
	if err != nil {
		e.Fatal(err)
	}
	return lease
}

// takeLater takes a lock of a client as soon as it can be had; so many of Go wait when it returns.
func (e *together) takeLater(of *lock.Client, l lock.Lockable, waiting int) <-chan *lock.Lease {
	e.Helper()
	done := make(chan *lock.Lease, 1)
	go func() {
		lease, err := l.Lock(e.Context())
		if err != nil {
			e.Error(err)
		}
		done <- lease
	}()
	for {
		info, err := of.Inspect(e.Context(), l.Name())
		if err != nil {
			e.Fatal(err)
		}
		if info.Local >= waiting {
			return done
		}
	}
}

// refused checks that Go cannot have a lock now.
func (e *together) refused(l lock.Lockable) {
	e.Helper()
	if lease, err := l.TryLock(e.Context()); !errors.Is(err, lock.ErrHeld) {
		e.Errorf("want ErrHeld, got %v, %v", lease, err)
	}
}

// javaWoken checks that Java is woken by what happens while it waits.
func (e *together) javaWoken(command, name string, happens func()) {
	e.Helper()
	before := e.scripts()
	waiting := e.java.Begin("waiting", command, name, int(peer.Patience.Milliseconds()))
	e.asleep(before)
	start := time.Now()
	happens()
	if answer := e.java.Await(waiting); answer == "false" || answer == "null" || strings.HasPrefix(answer, "error") ||
		time.Since(start) > 5*time.Second {
		e.Errorf("java got %q after %s", answer, time.Since(start))
	}
}

func javaReads(e *together) {
	rw := e.locks.RWMutex("a", nil)
	e.java.Want("true", "a", "rw.read", "a", 0)
	e.java.Want("true", "a", "rw.read", "a", 0) // it re-enters
	r := e.take(rw.Reader(), time.Second)
	e.refused(rw.Writer())
	info, err := e.locks.Inspect(e.Context(), "a")
	if err != nil || info.Kind != driver.ReadWrite || len(info.Holders) != 2 {
		e.Errorf("inspected %+v, %v", info, err)
	}
	e.unlock(r)
	e.java.Want("true", "a", "rw.unread", "a", 0)
	e.refused(rw.Writer())
	e.java.Want("true", "a", "rw.unread", "a", 0)
	e.unlock(e.take(rw.Writer(), time.Second))
}

func goReads(e *together) {
	r := e.take(e.locks.RWMutex("a", nil).Reader(), time.Second)
	e.java.Want("true", "a", "rw.read", "a", 0)
	e.java.Want("true", "b", "rw.read", "a", 0)
	e.java.Want("false", "c", "rw.write", "a", 0)
	e.java.Want("true", "a", "rw.isread", "a", 0)
	e.java.Want("false", "a", "rw.iswritten", "a", 0)
	e.java.Want("true", "a", "rw.unread", "a", 0)
	e.unlock(r)
	e.java.Want("false", "c", "rw.write", "a", 0)
	e.java.Want("true", "b", "rw.unread", "a", 0)
	e.java.Want("true", "c", "rw.write", "a", 0)
}

func javaWrites(e *together) {
	rw := e.locks.RWMutex("a", nil)
	e.java.Want("true", "a", "rw.write", "a", 0)
	e.refused(rw.Reader())
	e.refused(rw.Writer())
	info, err := e.locks.Inspect(e.Context(), "a")
	if err != nil || len(info.Holders) != 1 || info.Holders[0].Mode != driver.Write {
		e.Errorf("inspected %+v, %v", info, err)
	}
	e.java.Want("true", "a", "rw.unwrite", "a", 0)
	e.unlock(e.take(rw.Reader(), time.Second))
}

func goWrites(e *together) {
	w := e.take(e.locks.RWMutex("a", nil).Writer(), time.Second)
	e.java.Want("false", "a", "rw.read", "a", 0)
	e.java.Want("false", "a", "rw.write", "a", 0)
	e.java.Want("true", "a", "rw.iswritten", "a", 0)
	e.unlock(w)
	e.java.Want("false", "a", "rw.iswritten", "a", 0)
	e.java.Want("true", "a", "rw.write", "a", 0)
}

// javaReadersAreWoken: all of them, by one message.
func javaReadersAreWoken(e *together) {
	e.java.Want("true", "b", "rw.read", "b", 0)
	w := e.take(e.locks.RWMutex("a", nil).Writer(), time.Second)
	before := e.scripts()
	other := e.java.Begin("other", "rw.read", "a", int(peer.Patience.Milliseconds()))
	e.asleep(before)
	e.javaWoken("rw.read", "a", func() { e.unlock(w) })
	if answer := e.java.Await(other); answer != "true" {
		e.Errorf("the other reader got %q", answer)
	}
}

// javaReaderIsKilled while a reader in Go lives on: it does not keep the dead one alive.
func javaReaderIsKilled(e *together) {
	rw := e.locks.RWMutex("a", nil)
	r := e.take(rw.Reader(), time.Second)
	e.java.Want("true", "a", "rw.read", "a", 0)
	e.java.Kill()
	<-time.After(watchdog + time.Second)
	e.refused(rw.Writer())
	e.unlock(r)
	e.unlock(e.take(rw.Writer(), time.Second))
}

func goDowngradesBesideJava(e *together) {
	e.java.Want("true", "b", "rw.read", "b", 0)
	w := e.take(e.locks.RWMutex("a", nil).Writer(), time.Second)
	var r *lock.Lease
	e.javaWoken("rw.read", "a", func() {
		var err error
		if r, err = w.Downgrade(e.Context()); err != nil {
			e.Fatal(err)
		}
	})
	e.java.Want("false", "b", "rw.write", "a", 0)
	e.unlock(r)
	e.java.Want("true", "waiting", "rw.unread", "a", 0)
	e.java.Want("true", "b", "rw.write", "a", 0)
}

// goPassesOnToItsReaders: a reader in Go has the lock from the writer before it, without asking. When that turn is over
// Java reads, too, and writes when all have gone.
func goPassesOnToItsReaders(e *together) {
	opts := e.options()
	opts.Lock.HandOff.Time = watchdog // Java is asleep before the writer has gone
	locks, err := redislock.New(goredis.Wrap(e.rdb), opts)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = locks.Stop(context.Background()) })
	rw := locks.RWMutex("a", nil)
	first := e.take(rw.Writer(), time.Second)
	writer := e.takeLater(locks, rw.Writer(), 1)
	reader := e.takeLater(locks, rw.Reader(), 2)
	e.unlock(first)
	w := <-writer
	var r *lock.Lease
	e.javaWoken("rw.read", "a", func() {
		e.unlock(w)
		r = <-reader
	})
	if r.Owner() != w.Owner() || r.Token() <= w.Token() {
		e.Errorf("it has not been passed on: %s had %d, and %s has %d", w.Owner(), w.Token(), r.Owner(), r.Token())
	}
	e.java.Want("false", "b", "rw.write", "a", 0)
	e.java.Want("true", "waiting", "rw.unread", "a", 0)
	e.java.Want("false", "b", "rw.write", "a", 0)
	<-time.After(watchdog) // it is renewed
	e.java.Want("false", "b", "rw.write", "a", 0)
	e.unlock(r)
	e.java.Want("true", "b", "rw.write", "a", 0)
	e.java.Want("true", "b", "rw.unwrite", "a", 0)
}

func goUpgradesBesideJava(e *together) {
	rw := e.locks.RWMutex("a", nil)
	up, err := rw.RLockUpgradeable(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	e.java.Want("true", "a", "rw.read", "a", 0)
	if w, err := up.TryUpgrade(e.Context()); !errors.Is(err, lock.ErrHeld) {
		e.Errorf("want ErrHeld, got %v, %v", w, err)
	}
	got := make(chan *lock.Lease, 1)
	go func() {
		w, err := up.Upgrade(e.Context())
		if err != nil {
			e.Error(err)
		}
		got <- w
	}()
	e.java.Want("true", "a", "rw.unread", "a", 0)
	w := <-got
	e.java.Want("false", "a", "rw.read", "a", 0)
	e.unlock(w)
	e.java.Want("true", "a", "rw.read", "a", 0)
	e.java.Want("true", "a", "rw.unread", "a", 0)
	e.java.Want("false", "a", "rw.write", "a", 0)
	e.unlock(up)
	e.java.Want("true", "a", "rw.write", "a", 0)
}

// javaDowngradesBesideGo: Java's writer takes the lock to read as well, and goes on with that.
func javaDowngradesBesideGo(e *together) {
	rw := e.locks.RWMutex("a", nil)
	e.java.Want("true", "a", "rw.write", "a", 0)
	e.java.Want("true", "a", "rw.read", "a", 0)
	e.refused(rw.Reader())
	e.java.Want("true", "a", "rw.unwrite", "a", 0)
	e.unlock(e.take(rw.Reader(), time.Second))
	e.refused(rw.Writer())
	e.java.Want("true", "a", "rw.unread", "a", 0)
	e.unlock(e.take(rw.Writer(), time.Second))
}

// javaHasAnotherKind: Redisson's locks of different kinds are told apart, and left alone.
func javaHasAnotherKind(e *together) {
	e.java.Want("true", "a", "try", "m", 0)
	e.java.Want("true", "a", "rw.read", "rw", 0)
	e.java.Want("true", "a", "permit.set", "s", 2)
	for name, found := range map[string]driver.Kind{
		"m": driver.Mutex, "rw": driver.ReadWrite, "s": driver.Semaphore,
	} {
		for wanted, l := range map[driver.Kind]lock.Lockable{
			driver.Mutex: e.locks.Mutex(name, nil), driver.ReadWrite: e.locks.RWMutex(name, nil).Writer(),
			driver.Semaphore: e.locks.Semaphore(name, 2, nil),
		} {
			if wanted == found {
				continue
			}
			lease, err := l.TryLock(e.Context())
			told, ok := errors.AsType[*driver.KindError](err)
			if !ok || told.Found != found || told.Wanted != wanted {
				e.Errorf("Java's %s is asked for as a %s: %v, %v", found, wanted, lease, err)
			}
		}
	}
	e.java.Want("true", "a", "unlock", "m", 0)
	e.java.Want("true", "a", "rw.unread", "rw", 0)
	e.java.Want("2", "a", "permit.there", "s", 0)
}

// goReaderOutlivesJava: Go's reader lives for longer than Java's, whose watchdog renews its own with a shorter life.
func goReaderOutlivesJava(e *together) {
	rw := e.locks.RWMutex("a", nil)
	r := e.take(rw.Reader(), time.Second)
	e.java.Want("true", "a", "rw.read", "a", 0)
	<-time.After(2 * watchdog)
	e.java.Want("true", "a", "rw.unread", "a", 0)
	e.java.Want("false", "b", "rw.write", "a", 0)
	if err := r.Err(); err != nil {
		e.Error(err)
	}
	e.unlock(r)
}

func permitsAreShared(e *together) {
	e.java.Want("true", "a", "permit.set", "a", 3)
	s := e.locks.Semaphore("a", 3, nil)
	one := e.java.Do("a", "permit.take", "a", 0)
	two := e.take(s, time.Second)
	e.java.Want("1", "a", "permit.there", "a", 0)
	e.refused(s.Permits(2))
	three := e.java.Do("a", "permit.lease", "a", 60_000)
	e.refused(s)
	e.java.Want("null", "a", "permit.take", "a", 0)
	info, err := e.locks.Inspect(e.Context(), "a")
	if err != nil || info.Limit != 3 || len(info.Holders) != 3 {
		e.Errorf("inspected %+v, %v", info, err)
	}
	for _, id := range []string{one, three} {
		e.java.Want("true", "a", "permit.release", "a", id)
	}
	e.unlock(two)
	e.java.Want("3", "a", "permit.there", "a", 0)
	e.unlock(e.take(s.Permits(3), time.Second))
}

func javaDiesWithAPermit(e *together) {
	e.java.Want("true", "a", "permit.set", "a", 1)
	e.java.Do("a", "permit.lease", "a", int(watchdog.Milliseconds()))
	e.java.Kill()
	e.unlock(e.take(e.locks.Semaphore("a", 1, nil), watchdog+2*time.Second))
}

// permitsOfTheGoDeadReturn: nobody gives them back, and Java has them after their time.
func permitsOfTheGoDeadReturn(e *together) {
	e.java.Want("true", "a", "permit.set", "a", 2)
	short := &lock.SemaphoreOptions{TTL: time.Second, Fixed: true}
	lease := e.take(e.locks.Semaphore("a", 2, short).Permits(2), time.Second)
	e.java.Want("null", "a", "permit.take", "a", 0)
	if answer := e.java.Do("a", "permit.take", "a", int(peer.Patience.Milliseconds())); answer == "null" {
		e.Error("java got no permit after go's had run out")
	}
	if err := lease.Unlock(e.Context()); !errors.Is(err, lock.ErrLost) {
		e.Errorf("want ErrLost, got %v", err)
	}
}
