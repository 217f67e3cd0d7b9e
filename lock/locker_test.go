package lock_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

func mustLocker(t *testing.T, locks *lock.Client, name string) sync.Locker {
	t.Helper()
	l, err := locks.Locker(locks.Mutex(name, nil))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLockersExclude(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		shared := mustLocker(t, locks, "a")
		var (
			group sync.WaitGroup
			n     int
		)
		for i := range 20 {
			l := shared
			if i%2 == 0 {
				l = mustLocker(t, locks, "a")
			}
			group.Go(func() {
				l.Lock()
				defer l.Unlock()
				n++
				time.Sleep(time.Second)
			})
		}
		group.Wait()
		wantEqual(t, "turns", n, 20)
	})
}

func TestALockerGoesOnThroughFailures(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var log bytes.Buffer
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		backend.fail(errDown)
		time.AfterFunc(time.Minute, backend.heal)
		start := time.Now()
		l := mustLocker(t, locks, "a")
		l.Lock()
		wantBetween(t, "Lock", time.Since(start), time.Minute, 62*time.Second)
		l.Unlock()
		if !strings.Contains(log.String(), "locker goes on trying") {
			t.Errorf("the log does not tell of the failures: %s", &log)
		}
	})
}

func TestALockerPanicsWhenItCannotGoOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		l := mustLocker(t, locks, "a")
		wantText(t, panicOf(l.Unlock), `lock "a": unlock: not locked`)
		closeNow(t, locks)
		wantErr(t, panicOf(l.Lock), lock.ErrClosed)
	})
}

func panicOf(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}
