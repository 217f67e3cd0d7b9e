package several

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestWorkBeginsWhileItIsClosed: many begin something while the counting ends. What was counted before is over when
// that is told, and what comes later is done, too.
func TestWorkBeginsWhileItIsClosed(t *testing.T) {
	for range 200 {
		var (
			w           work
			late        sync.WaitGroup
			early, done atomic.Int32
		)
		hold := make(chan struct{})
		for range 10 {
			w.Go(func() { <-hold; early.Add(1) })
		}
		begin := make(chan struct{})
		for range 8 {
			late.Go(func() {
				<-begin
				for range 5 {
					late.Add(1)
					w.Go(func() { defer late.Done(); done.Add(1) })
				}
			})
		}
		close(begin)
		idle := w.close()
		select {
		case <-idle:
			t.Error("it is told that nothing goes on any more, and ten go on")
		default:
		}
		close(hold)
		select {
		case <-idle:
		case <-time.After(10 * time.Second):
			t.Fatal("it is not told that nothing goes on any more")
		}
		if n := early.Load(); n != 10 {
			t.Errorf("nothing goes on any more, as it is told, and %d of ten have ended", n)
		}
		late.Wait()
		if n := done.Load(); n != 40 {
			t.Errorf("%d of 40 were done that began at that time", n)
		}
	}
}

// TestWorkEndsAndBeginsWhileItIsWaitedFor: it goes on and off all the time, and whoever waits is told each time.
func TestWorkEndsAndBeginsWhileItIsWaitedFor(t *testing.T) {
	var (
		w     work
		group sync.WaitGroup
	)
	if w.whenIdle() != nil {
		t.Error("something goes on before anything has begun")
	}
	for range 4 {
		group.Go(func() {
			for range 500 {
				var ended sync.WaitGroup
				ended.Add(1)
				w.Go(ended.Done)
				ended.Wait()
			}
		})
		group.Go(func() {
			for range 500 {
				if idle := w.whenIdle(); idle != nil {
					<-idle
				}
			}
		})
	}
	group.Wait()
	if idle := w.close(); idle != nil {
		<-idle
	}
	if w.close() != nil {
		t.Error("something goes on after all has ended")
	}
}
