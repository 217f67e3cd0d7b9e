package client_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestAStreamThatWasOfUseIsMadeAnew each time: it goes on for a moment after its watch, and no longer.
func TestAStreamThatWasOfUseIsMadeAnew(t *testing.T) {
	var listened atomic.Int32
	inner := serving(t, memlock.NewBackend(nil))
	site := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/Listen") {
			listened.Add(1)
		}
		inner.ServeHTTP(w, r)
	}))
	h := newHeir(t, site.url())
	b := h.Backend.(interface {
		driver.Waiter
		driver.Resumer
	})
	watch := func() driver.Watch {
		w, err := b.Watch(t.Context(), "a", driver.Mutex)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	watch().Close()
	if w := b.Resume("a", driver.Mutex); w != nil {
		t.Error("one that has heard nothing goes on")
	}
	first := watch()
	if w := b.Resume("a", driver.Mutex); w != nil {
		t.Error("two have one stream")
	}
	takeAs(t, h, "me:1")
	if err := h.release(t, "me:1"); err != nil {
		t.Fatal(err)
	}
	<-first.C()
	first.Close()
	again := b.Resume("a", driver.Mutex)
	if again == nil || listened.Load() != 2 {
		t.Fatalf("it was made anew: %d streams", listened.Load())
	}
	first.Close() // once more: it is another's
	takeAs(t, h, "me:2")
	if err := h.release(t, "me:2"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-again.C():
	case <-time.After(10 * time.Second):
		t.Error("it hears nothing")
	}
	again.Close()
	again = b.Resume("a", driver.Mutex)
	if again == nil {
		t.Fatal("it cannot be had again")
	}
	again.Close()
	eventually(t, func() bool {
		w := b.Resume("a", driver.Mutex)
		if w != nil {
			<-time.After(1100 * time.Millisecond) // it is had for so long, and left then: its end is counted from there
			w.Close()
			<-time.After(1100 * time.Millisecond)
		}
		return w == nil
	})
	if n := listened.Load(); n != 2 {
		t.Errorf("%d streams", n)
	}
}

// TestAStreamOfABrokenConnectionIsResumed: it hears nothing until it is made again.
func TestAStreamOfABrokenConnectionIsResumed(t *testing.T) {
	site := serve(t, serving(t, memlock.NewBackend(nil)))
	h := newHeir(t, site.url())
	w, err := h.Backend.(driver.Waiter).Watch(context.Background(), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	takeAs(t, h, "me:1")
	if err := h.release(t, "me:1"); err != nil {
		t.Fatal(err)
	}
	<-w.C()
	site.end()
	eventually(t, func() bool { // the watcher is told to ask
		select {
		case <-w.C():
			return true
		default:
			return false
		}
	})
	w.Close()
	if again := h.Backend.(driver.Resumer).Resume("a", driver.Mutex); again != nil {
		t.Error("a stream that is not there was had again")
	}
}
