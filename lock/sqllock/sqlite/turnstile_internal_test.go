//go:build linux || darwin

package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
)

// turnstilesOf are those of several processes.
func turnstilesOf(t *testing.T, n int) []*turnstile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "locks.db")
	all := make([]*turnstile, n)
	for i := range all {
		made := newTurnstile(path)
		all[i] = &made
		t.Cleanup(made.close)
	}
	return all
}

// eventually waits for what will be.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for !is() {
		if !sleep.For(limit, shortestPause) {
			t.Fatal(what)
		}
	}
}

// isTaken reports whether somebody is in a gate.
func isTaken(g *gate) bool {
	f, err := os.Open(g.path)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := lockFile(f)
	return err == nil && !free
}

// TestWriterComesInAgain: who leaves, and comes again at once, comes after who was waiting.
func TestWriterComesInAgain(t *testing.T) {
	both := turnstilesOf(t, 2)
	first, second := both[0], both[1]
	order := make(chan string, 2)
	for range 50 {
		leave := first.takeTurn(t.Context())
		go func() {
			leave := second.takeTurn(t.Context())
			order <- "second"
			leave()
		}()
		eventually(t, "nobody is next", func() bool { return isTaken(&first.next) })
		leave()
		leave = first.takeTurn(t.Context())
		order <- "first"
		leave()
		if came := []string{<-order, <-order}; came[0] != "second" {
			t.Fatalf("they came in the order %q", came)
		}
	}
}

// TestWriterStopsInFront: nobody waits for long for who was stopped, or is kept off by who has gone on without a turn.
func TestWriterStopsInFront(t *testing.T) {
	all := turnstilesOf(t, 3)
	stopped, waits, comes := all[0], all[1], all[2]
	goOn := stopped.takeTurn(t.Context())
	waits.takeTurn(t.Context())() // returns without a turn
	if !isTaken(&stopped.now) {
		t.Error("who has had no turn has ended that of another one")
	}
	if !waits.now.isAwaited() {
		t.Fatal("it is not in line any more")
	}
	if waits.now.letIn(t.Context()) {
		t.Error("it was let in beside another one")
	}
	goOn()
	eventually(t, "it is in line for ever", func() bool { return !waits.now.isAwaited() })
	leave := comes.takeTurn(t.Context())
	if !isTaken(&comes.now) {
		t.Error("there is no turn after who has stopped")
	}
	leave()
	if isTaken(&comes.now) || isTaken(&comes.next) {
		t.Error("a turn does not end")
	}
}

// TestWriterLeavesTheLine: who closes its file is let in no more.
func TestWriterLeavesTheLine(t *testing.T) {
	both := turnstilesOf(t, 2)
	leave := both[0].takeTurn(t.Context())
	over, cancel := context.WithCancel(t.Context())
	cancel()
	both[1].takeTurn(over)()
	both[1].close()
	leave()
	eventually(t, "who has gone has a turn", func() bool { return !isTaken(&both[0].now) && !isTaken(&both[0].next) })
	both[1].takeTurn(t.Context())()
}

// TestWriterLeavesThreads: behind who was stopped there is one at most who waits, however many come and go.
func TestWriterLeavesThreads(t *testing.T) {
	all := turnstilesOf(t, 10)
	defer all[0].takeTurn(t.Context())()
	before := runtime.NumGoroutine()
	for _, comes := range all[1:] {
		comes.takeTurn(t.Context())()
		comes.close()
	}
	if more := runtime.NumGoroutine() - before; more > 2 { // one at each gate
		t.Errorf("%d goroutines more", more)
	}
}
